package gateway_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	good  = "0123456789abcdef0123456789abcdef"
	other = "fedcba9876543210fedcba9876543210"
)

func TestReadTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, fails string }{
		"one token":                      {good, ""},
		"with a name":                    {"ann " + good, ""},
		"a tab after the name":           {"ann\t" + good, ""},
		"several, comments, empty lines": {"# tokens\n\nann " + good + "\r\n  bob   " + other + "  \n", ""},
		"two of one caller":              {"ann " + good + "\nann " + other, ""},
		"the shortest":                   {good[:22], ""},
		"too short":                      {"ann " + good + "\nbob " + good[:21], "line 2: a token has 22 characters at least"},
		"too many words":                 {"ann b " + good, "line 1: "},
		"the same for two callers":       {"ann " + good + "\nbob " + good, "line 2: the token of another caller"},
		"nothing":                        {"", "there is no token in it"},
		"comments only":                  {"# " + good, "there is no token in it"},
		"far too long":                   {strings.Repeat("x", 1<<17), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, err := gateway.ReadTokens(strings.NewReader(c.file))
			if c.fails == "" {
				require.NoError(t, err)
				assert.NotNil(t, tokens)
				return
			}
			require.ErrorContains(t, err, c.fails)
			assert.NotContains(t, err.Error(), good[:21], "no token in the error")
		})
	}
}

func TestWhoHasNoTokenIsAskedForOne(t *testing.T) {
	t.Parallel()
	tokens, err := gateway.ReadTokens(strings.NewReader("ann " + good))
	require.NoError(t, err)
	g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Tokens = tokens })
	url := listen(t, g)
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for name, c := range map[string]struct {
		authorization string
		status        int
	}{
		"nothing":             {"", 401},
		"another token":       {"Bearer " + other, 401},
		"a part of it":        {"Bearer " + good[:31], 401},
		"more than it":        {"Bearer " + good + "0", 401},
		"no scheme":           {good, 401},
		"another scheme":      {"Digest " + good, 401},
		"as a user":           {basic(good, ""), 401},
		"broken Basic":        {"Basic !!", 401},
		"the token":           {"Bearer " + good, 200},
		"a scheme in capital": {"BEARER   " + good, 200},
		"of a browser":        {basic("whoever", good), 200},
	} {
		t.Run(name, func(t *testing.T) {
			body, _ := message(t, "initialize", plain.initialize())
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(body)))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			response, err := httpClient(t).Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			said, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, c.status, response.StatusCode)
			assert.NotContains(t, string(said), good)
			if c.status == http.StatusUnauthorized {
				assert.Equal(t, []string{`Bearer realm="vmcp"`, `Basic realm="vmcp", charset="UTF-8"`}, response.Header.Values("WWW-Authenticate"))
				assert.Contains(t, string(said), "Authorization: Bearer TOKEN")
			}
		})
	}
	assert.Equal(t, 1, builds(servers["one"]))
}

// The gateway's own guard protects what stands beside the endpoint.
func TestGuard(t *testing.T) {
	t.Parallel()
	tokens, err := gateway.ReadTokens(strings.NewReader(good))
	require.NoError(t, err)
	g, _ := before(t, map[string]badserver.Script{"one": serving("one")}, func(o *gateway.Options) { o.Tokens = tokens })
	guarded := g.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") }))
	for authorization, status := range map[string]int{"": 401, "Bearer " + good: 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", authorization)
		w := recorded(guarded, r)
		assert.Equal(t, status, w.Code)
		r.Header.Set("Origin", "https://evil.example")
		assert.Equal(t, http.StatusForbidden, recorded(guarded, r).Code)
	}
}
