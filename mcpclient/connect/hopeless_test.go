package connect_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is an HTTP server that has one answer to everything.
func answering(t *testing.T, status int) *endpoint {
	t.Helper()
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the reason", status)
	}))
}

// A failure that another protocol cannot mend.
func TestNoFallback(t *testing.T) {
	t.Parallel()
	answeringHTTP := func(status int) func(*testing.T) connect.Target {
		return func(t *testing.T) connect.Target { return connect.HTTP{URL: answering(t, status).URL + "/mcp"} }
	}
	answeringSSE := func(status int) func(*testing.T) connect.Target {
		return func(t *testing.T) connect.Target { return connect.SSE{URL: answering(t, status).URL + "/sse"} }
	}
	status := func(want int) func(error) bool {
		return func(err error) bool {
			var status *wire.StatusError
			return errors.As(err, &status) && status.StatusCode == want
		}
	}
	is := func(want error) func(error) bool {
		return func(err error) bool { return errors.Is(err, want) }
	}
	dial := func(err error) bool {
		var network *net.OpError
		return errors.As(err, &network) && network.Op == "dial"
	}
	untrusted := func(err error) bool {
		var untrusted *tls.CertificateVerificationError
		return errors.As(err, &untrusted)
	}
	for name, test := range map[string]struct {
		target func(*testing.T) connect.Target
		stage  string
		cause  func(error) bool
		remedy string
	}{
		"HTTP refused": {
			func(t *testing.T) connect.Target { return connect.HTTP{URL: "http://" + refused(t)} },
			"handshake", dial, "check the address"},
		"SSE refused": {
			func(t *testing.T) connect.Target { return connect.SSE{URL: "http://" + refused(t)} },
			"start", dial, "check the address"},
		"a command that is not in the path": {
			func(*testing.T) connect.Target { return connect.Stdio{Command: "no-such-mcp-server"} },
			"start", is(exec.ErrNotFound), "install the command"},
		"a command that does not exist": {
			func(t *testing.T) connect.Target { return connect.Stdio{Command: filepath.Join(t.TempDir(), "server")} },
			"start", is(fs.ErrNotExist), "install the command"},
		"a command that may not be executed": {
			func(t *testing.T) connect.Target {
				path := filepath.Join(t.TempDir(), "server")
				require.NoError(t, os.WriteFile(path, nil, 0o600))
				return connect.Stdio{Command: path}
			},
			"start", is(fs.ErrPermission), "make the command executable"},
		"a directory that does not exist": {
			func(t *testing.T) connect.Target {
				return connect.Stdio{Command: os.Args[0], Dir: filepath.Join(t.TempDir(), "gone")}
			},
			"target", is(fs.ErrNotExist), "check the working directory"},
		"a directory that is a file": {
			func(*testing.T) connect.Target { return connect.Stdio{Command: os.Args[0], Dir: os.Args[0]} },
			"target", is(syscall.ENOTDIR), "check the working directory"},
		"HTTP 401": {answeringHTTP(401), "handshake", is(transport.ErrAuthorizationRequired), "other credentials"},
		"HTTP 403": {answeringHTTP(403), "handshake", status(403), "other credentials"},
		"HTTP 404": {answeringHTTP(404), "handshake", is(transport.ErrLegacySSEServer), "check the path"},
		"HTTP 405": {answeringHTTP(405), "handshake", status(405), "check the path"},
		"HTTP 429": {answeringHTTP(429), "handshake", status(429), "later"},
		"HTTP 503": {answeringHTTP(503), "handshake", status(503), "later"},
		"SSE 401":  {answeringSSE(401), "start", is(transport.ErrAuthorizationRequired), "other credentials"},
		"SSE 403":  {answeringSSE(403), "start", status(403), "other credentials"},
		"SSE 404":  {answeringSSE(404), "start", status(404), "check the path"},
		"SSE 405":  {answeringSSE(405), "start", status(405), "check the path"},
		"SSE 429":  {answeringSSE(429), "start", status(429), "later"},
		"SSE 503":  {answeringSSE(503), "start", status(503), "later"},
		"HTTP with a certificate that nobody knows": {
			func(t *testing.T) connect.Target { return connect.HTTP{URL: encrypted(t).URL} },
			"handshake", untrusted, "the certificate is not trusted"},
		"HTTPS to a server that speaks HTTP": {
			func(t *testing.T) connect.Target {
				address := answering(t, 200).URL
				return connect.HTTP{URL: "https" + address[len("http"):]}
			},
			"handshake", is(http.ErrSchemeMismatch), "http://"},
		"a server that fails the first request": {
			func(t *testing.T) connect.Target {
				s := badserver.New(with(honest(modern), "tools/list", badserver.Plain(http.StatusServiceUnavailable, "busy")))
				return connect.HTTP{URL: overHTTP(t, s).URL}
			},
			"first request", status(503), "later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, log := &dialed{Target: test.target(t)}, &mcptest.Journal{}
			_, err := connect.To(target, connect.WithLogger(log.Logger())).Open(soon(t))

			var failed *connect.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, test.stage, failed.Stage)
			assert.True(t, test.cause(err), "the cause of %v", err)
			assert.Equal(t, target.String(), failed.Target)
			assert.ErrorContains(t, err, test.remedy)
			assert.NotContains(t, err.Error(), "closing it failed")
			assert.Nil(t, failed.First)
			assert.EqualValues(t, 1, target.dials.Load())
			assert.Empty(t, log.Records())
		})
	}
}
