//go:build unix && !real

package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	oneToken   = "planted-token-0123456789abcdef"
	otherToken = "planted-token-fedcba9876543210"
	tokenFile  = "# who may call\n\nann " + oneToken + "\nbob " + otherToken + "\n"
)

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func TestServeWithTokensIsForThoseWhoHaveOne(t *testing.T) {
	t.Parallel()
	file := write(t, "tokens", tokenFile)
	p, endpoint := launchEndpoint(t, oneChild(t, nil), "--auth-token-file", file, "--log-level", "debug")
	address := strings.TrimSuffix(endpoint, "/mcp")

	for _, path := range []string{"/mcp", "/", "/status", "/status/events", "/readyz", "/metrics", "/no/such"} {
		for name, header := range map[string]http.Header{"none": nil, "another": bearer("planted-token-of-nobody-at-all"), "half a token": bearer(oneToken[:20]),
			"a name": bearer("ann " + oneToken), "another scheme": {"Authorization": {"Token " + oneToken}}} {
			got := get(t, address+path, header)
			assert.Equal(t, http.StatusUnauthorized, got.status, "%s with %s", path, name)
			assert.Contains(t, got.text, "Authorization: Bearer TOKEN", "%s with %s", path, name)
		}
	}
	assert.Equal(t, http.StatusOK, get(t, address+"/healthz", nil).status, "whoever restarts it has no token")
	for _, path := range []string{"/", "/status", "/readyz", "/metrics"} {
		assert.Equal(t, http.StatusOK, get(t, address+path, bearer(otherToken)).status, path)
	}
	c := openAt(t, connect.HTTP{URL: endpoint, Headers: map[string]string{"Authorization": "Bearer " + oneToken}})
	text, err := call(t.Context(), c, "child_run")
	require.NoError(t, err)
	assert.Equal(t, "done", text)
	_, err = connect.Open(t.Context(), connect.HTTP{URL: endpoint})
	require.ErrorContains(t, err, "authorization required")

	refused := vmcpWith(t, "status", "--url", address)
	assert.Equal(t, statusFailure, refused.status)
	assert.Contains(t, refused.err, "--auth-token-file")
	shown := vmcpWith(t, "status", "--url", address, "--auth-token-file", file)
	assert.Equal(t, statusOK, shown.status, shown.err)

	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	p.ended(t)
	assert.Contains(t, p.log.String(), `"level":"DEBUG"`)
	assert.NotContains(t, p.log.String(), "planted-token")
}

func TestServeForOthersNeedsTokens(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "example.com:0"} {
		got := vmcpWith(t, "serve", "--listen", address)
		assert.Equal(t, statusUsage, got.status, address)
		assert.Contains(t, got.err, "is not a loopback address", address)
		assert.Contains(t, got.err, "--auth-token-file", address)
	}
	p, endpoint := launchEndpoint(t, oneChild(t, nil), "--listen", "0.0.0.0:0", "--auth-token-file", write(t, "tokens", tokenFile))
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/mcp$`, endpoint, "what is printed can be used")
	assert.Equal(t, http.StatusUnauthorized, get(t, endpoint, nil).status)
	_, err := call(t.Context(), openAt(t, connect.HTTP{URL: endpoint, Headers: map[string]string{"Authorization": "Bearer " + oneToken}}), "child_run")
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	p.ended(t)
}

func TestServeRefusesAFileWithoutGoodTokens(t *testing.T) {
	for name, file := range map[string]string{
		"no name": "", "no file": "/no/such/file", "nothing in it": write(t, "empty", "# nobody\n\n"), "a short token": write(t, "short", "hush-hush\n"),
	} {
		got := vmcpWith(t, "serve", "--listen", "127.0.0.1:0", "--auth-token-file", file)
		assert.Equal(t, statusUsage, got.status, name)
		assert.Contains(t, got.err, "--auth-token-file", name)
		assert.NotContains(t, got.err, "hush-hush")
		assert.Empty(t, got.out, name)
	}
}

func TestReachableIsAnAddressOfThisMachine(t *testing.T) {
	for at, want := range map[string]string{
		"[::]:80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80", "127.0.0.2:80": "127.0.0.2:80", "[::1]:80": "[::1]:80", "192.0.2.1:80": "192.0.2.1:80",
	} {
		assert.Equal(t, want, reachable(at))
	}
}
