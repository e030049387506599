package connect_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted are secrets, each with this word in it.
const planted = "hush"

var (
	secretHeaders = map[string]string{"Authorization": "Bearer hush-token", "X-Api-Key": "hush-header"}
	onlyKey       = map[string]string{"X-Api-Key": "hush-header"}
)

// withSecrets returns the URL with a user, a password and a query.
func withSecrets(url string) string {
	return strings.Replace(url, "://", "://hush-user:hush-password@", 1) + "?key=hush-query&other=hush%20spaced"
}

func TestSecretsReachTheServer(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*endpoint, connect.Target){
		"HTTP on 2025-11-25": func(t *testing.T) (*endpoint, connect.Target) {
			e := overHTTP(t, badserver.New(honest(legacy)))
			return e, connect.HTTP{URL: withSecrets(e.URL + "/mcp"), Headers: onlyKey}
		},
		"HTTP on 2026-07-28": func(t *testing.T) (*endpoint, connect.Target) {
			e := overHTTP(t, badserver.New(honest(modern)))
			return e, connect.HTTP{URL: withSecrets(e.URL), Headers: onlyKey}
		},
		"SSE": func(t *testing.T) (*endpoint, connect.Target) {
			e := overSSE(t, badserver.New(honest(legacy)))
			return e, connect.SSE{URL: withSecrets(e.URL + "/sse"), Headers: onlyKey}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, target := open(t)
			c, err := connect.Open(soon(t), target)
			require.NoError(t, err)
			toolsOf(t, c)
			require.NoError(t, c.Close())

			requests := e.received()
			require.NotEmpty(t, requests)
			for _, request := range requests {
				user, password, _ := request.BasicAuth()
				assert.Equal(t, "hush-user hush-password", user+" "+password, request.Method)
				assert.Equal(t, "hush-header", request.Header.Get("X-Api-Key"), request.Method)
				if name == "SSE" && request.Method == http.MethodPost {
					assert.NotEmpty(t, request.URL.Query().Get("sessionId"), "the endpoint has its own query")
					assert.NotContains(t, request.URL.RawQuery, planted)
					continue
				}
				assert.Equal(t, "key=hush-query&other=hush%20spaced", request.URL.RawQuery, request.Method)
			}
		})
	}
}

func TestAnAuthorizationHeaderWinsOverTheUserOfTheURL(t *testing.T) {
	t.Parallel()
	e := overHTTP(t, badserver.New(honest(legacy)))
	c, err := connect.Open(soon(t), connect.HTTP{URL: withSecrets(e.URL), Headers: secretHeaders})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for _, request := range e.received() {
		assert.Equal(t, "Bearer hush-token", request.Header.Get("Authorization"), request.Method)
	}
}

// parrot repeats all that it was sent.
func parrot(t *testing.T, status int) *endpoint {
	t.Helper()
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		user, password, _ := r.BasicAuth()
		fmt.Fprintln(w, "you are", user, password, r.URL.Query(), r.URL.RawQuery, r.Header["X-Api-Key"], r.Header["Authorization"])
	}))
}

// sneaky redirects to where nobody listens, with all of the query.
func sneaky(t *testing.T) *endpoint {
	t.Helper()
	nowhere := refused(t)
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+nowhere+"/login?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
	}))
}

func TestSecretsAreInNoErrorAndNoLog(t *testing.T) {
	t.Parallel()
	repeating := func(script badserver.Script, method string) badserver.Script {
		return with(script, method, badserver.Fail(mcp.INTERNAL_ERROR, "no access with hush-header, hush-query, hush spaced, hush-password, hush-user"))
	}
	for name, url := range map[string]func(*testing.T) string{
		"a refused connection":      func(t *testing.T) string { return "http://" + refused(t) },
		"an unknown host":           func(*testing.T) string { return "http://candor.invalid/mcp" },
		"a URL that is none":        func(*testing.T) string { return "http://[::1/hush" },
		"a 403 that repeats them":   func(t *testing.T) string { return parrot(t, 403).URL },
		"a 500 that repeats them":   func(t *testing.T) string { return parrot(t, 500).URL },
		"a 404 that repeats them":   func(t *testing.T) string { return parrot(t, 404).URL },
		"a 401 that repeats them":   func(t *testing.T) string { return parrot(t, 401).URL },
		"a 200 that repeats them":   func(t *testing.T) string { return parrot(t, 200).URL },
		"a redirect with the query": func(t *testing.T) string { return sneaky(t).URL },
		"a handshake that fails": func(t *testing.T) string {
			return overHTTP(t, badserver.New(repeating(honest(legacy), "initialize"))).URL
		},
		"a first request that fails": func(t *testing.T) string {
			s := badserver.New(with(honest(modern), "tools/list", badserver.Plain(500, "not with hush-query")))
			return overHTTP(t, s).URL
		},
	} {
		for kind, target := range map[string]func(string) connect.Target{
			"HTTP":          func(url string) connect.Target { return connect.HTTP{URL: url, Headers: secretHeaders} },
			"HTTP, no head": func(url string) connect.Target { return connect.HTTP{URL: url, Headers: onlyKey} },
			"SSE":           func(url string) connect.Target { return connect.SSE{URL: url, Headers: secretHeaders} },
		} {
			if kind == "SSE" && (strings.HasPrefix(name, "a 200") || strings.HasSuffix(name, "fails")) {
				continue // no event stream: see below
			}
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				log := &mcptest.Journal{}
				_, err := connect.To(target(withSecrets(url(t))), connect.WithLogger(log.Logger())).Open(soon(t))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), planted)
				assert.NotContains(t, fmt.Sprint(log.Records()), planted)
			})
		}
	}
	t.Run("SSE, a handshake that fails", func(t *testing.T) {
		t.Parallel()
		s, log := badserver.New(repeating(honest(legacy), "initialize")), &mcptest.Journal{}
		_, err := connect.To(connect.SSE{URL: withSecrets(overSSE(t, s).URL), Headers: secretHeaders},
			connect.WithLogger(log.Logger())).Open(soon(t))
		require.ErrorIs(t, err, mcp.ErrInternalError)
		assert.NotContains(t, err.Error(), planted)
		assert.NotContains(t, fmt.Sprint(log.Records()), planted)
	})
}

func TestTheCausesOfADialErrorHaveNoSecretEither(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://" + refused(t) + "/mcp", sneaky(t).URL} {
		_, err := connect.Open(soon(t), connect.HTTP{URL: withSecrets(url), Headers: secretHeaders})
		var failed *connect.Error
		require.ErrorAs(t, err, &failed)
		assert.NotContains(t, failed.Err.Error(), planted, "a middleware may log it")
	}
}

func TestTheEnvironmentIsInNoError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program string
		script  badserver.Script
	}{
		"in stderr":     {"dying", honest(legacy)},
		"in the answer": {"server", with(honest(legacy), "initialize", badserver.Fail(mcp.INTERNAL_ERROR, "not with hush-environment"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &mcptest.Journal{}
			target := says(newLeash(t).stdio(t, test.program, test.script), "KEY=hush-environment", "and hush-environment-longer.")
			target.Env["KEY"], target.Env["OTHER"] = "hush-environment", "hush-environment-longer"
			_, err := connect.To(target, connect.WithLogger(log.Logger())).Open(soon(t))
			var failed *connect.Error
			require.ErrorAs(t, err, &failed)
			assert.Contains(t, failed.Stderr, "KEY=***\nand ***.")
			assert.NotContains(t, err.Error(), planted)
			assert.NotContains(t, failed.Stderr, planted)
			assert.NotContains(t, fmt.Sprint(log.Records()), planted)
		})
	}
}

func TestATargetIsNamedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for want, target := range map[string]fmt.Stringer{
		"https://example.com:8443/a%2Fb": connect.HTTP{URL: withSecrets("https://example.com:8443/a%2Fb"), Headers: secretHeaders},
		"http://example.com/sse":         connect.SSE{URL: withSecrets("http://example.com/sse") + "#hush", Headers: secretHeaders},
		"an invalid URL":                 connect.HTTP{URL: "hush"},
		"npx":                            connect.Stdio{Command: "/usr/bin/npx", Args: []string{"--token=hush"}, Env: map[string]string{"A": "hush"}},
		"in-process server":              connect.InProcess{},
	} {
		assert.Equal(t, want, target.String())
	}
	nameless := &counted{Target: connect.InProcess{}}
	assert.Equal(t, "*connect_test.counted", connect.To(nameless).String(), "a target without a name has its type")
	assert.Same(t, nameless, connect.To(nameless).Target())
}

// Half a secret is not recognised any more: what is shortened has been masked.
func TestASecretWhereAReasonIsShortenedIsMasked(t *testing.T) {
	t.Parallel()
	const secret = "hush-0123456789abcdef-0123456789abcdef"
	target := connect.HTTP{URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"X-Api-Key": secret}}
	for padding := 1990; padding < 2060; padding++ {
		failed := errors.New(strings.Repeat("x", padding) + secret + strings.Repeat("y", 100))
		target.RoundTripper = roundTrip(func(*http.Request) (*http.Response, error) { return nil, failed })
		_, err := connect.Open(t.Context(), target)
		require.ErrorIs(t, err, failed)
		assert.NotContains(t, err.Error(), secret[:6], "after %d characters", padding)
	}
}

// roundTrip is a transport of HTTP.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
