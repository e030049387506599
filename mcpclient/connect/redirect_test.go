package connect_test

import (
	"net/http"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redirecting sends every request on to where.
func redirecting(t *testing.T, to func(*http.Request) string) *endpoint {
	t.Helper()
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to(r), http.StatusTemporaryRedirect)
	}))
}

// sessionless is for a client whose session id a redirect has lost.
func sessionless() badserver.Script {
	script := honest(legacy)
	script.Session = false
	return script
}

func TestARedirectToAnotherHostTakesNoSecretAlong(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]struct {
		listen func(*testing.T, *badserver.Server) *endpoint
		target func(string) connect.Target
	}{
		"HTTP": {overHTTP, func(url string) connect.Target { return connect.HTTP{URL: url, Headers: onlyKey} }},
		"SSE":  {overSSE, func(url string) connect.Target { return connect.SSE{URL: url, Headers: onlyKey} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := open.listen(t, badserver.New(sessionless()))
			first := redirecting(t, func(r *http.Request) string {
				if r.Method == http.MethodPost && name == "SSE" {
					return other.URL + "/sse?" + r.URL.RawQuery
				}
				return other.URL + "/mcp?own=1"
			})
			c, err := connect.Open(soon(t), open.target(withSecrets(first.URL+"/mcp")))
			require.NoError(t, err)
			toolsOf(t, c)
			require.NoError(t, c.Close())

			requests := other.received()
			require.NotEmpty(t, requests)
			for _, request := range requests {
				_, _, authorized := request.BasicAuth()
				assert.False(t, authorized, request.Method)
				assert.Empty(t, request.Header.Get("X-Api-Key"), request.Method)
				assert.NotContains(t, request.URL.RawQuery, planted, request.Method)
			}
			assert.Equal(t, "own=1", requests[0].URL.RawQuery, "a redirect has its own query")
		})
	}
}

// Some servers send /mcp on to /mcp/.
func TestARedirectOnTheSameHostTakesTheSecretsAlong(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	e := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		s.ServeHTTP(w, r)
	}))
	c, err := connect.Open(soon(t), connect.HTTP{URL: withSecrets(e.URL + "/mcp"), Headers: onlyKey})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for _, request := range e.received() {
		user, password, _ := request.BasicAuth()
		assert.Equal(t, "hush-user hush-password", user+" "+password, request.URL.Path)
		assert.Equal(t, "key=hush-query&other=hush%20spaced", request.URL.RawQuery, request.URL.Path)
		assert.Equal(t, "hush-header", request.Header.Get("X-Api-Key"), request.URL.Path)
	}
}

func TestAWayBackFromAnotherHostIsNotHome(t *testing.T) {
	t.Parallel()
	s := badserver.New(sessionless())
	var other *endpoint
	home := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		s.ServeHTTP(w, r)
	}))
	other = redirecting(t, func(*http.Request) string { return home.URL + "/elsewhere" })
	c, err := connect.Open(soon(t), connect.HTTP{URL: withSecrets(home.URL + "/mcp")})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for _, request := range home.received() {
		_, _, authorized := request.BasicAuth()
		assert.Equal(t, request.URL.Path == "/mcp", authorized, request.URL.Path)
	}
}

func TestRedirectsInACircleEnd(t *testing.T) {
	t.Parallel()
	e := redirecting(t, func(r *http.Request) string { return r.URL.String() })
	_, err := connect.Open(soon(t), connect.HTTP{URL: withSecrets(e.URL)})
	require.ErrorContains(t, err, "stopped after 10 redirects")
	assert.NotContains(t, err.Error(), planted)
}
