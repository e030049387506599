package connect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
)

func TestRemedy(t *testing.T) {
	t.Parallel()
	get := func(code int) error { return &wire.StatusError{Method: "GET", StatusCode: code} }
	post := func(code int) error { return &wire.StatusError{Method: "POST", StatusCode: code} }
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no such command":              {exec.ErrNotFound, "install the command"},
		"no such file":                 {fs.ErrNotExist, "install the command"},
		"a file that is no program":    {&fs.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EACCES}, "executable"},
		"no such socket":               {&net.OpError{Op: "dial", Err: syscall.ENOENT}, "check the address"},
		"a network that is forbidden":  {&net.OpError{Op: "dial", Err: syscall.EPERM}, "check the address"},
		"a proxy that is not there":    {&net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, "check the address"},
		"no credentials":               {&transport.AuthorizationRequiredError{}, "credentials"},
		"no token":                     {&transport.OAuthAuthorizationRequiredError{}, "credentials"},
		"credentials that do not do":   {post(403), "credentials"},
		"more than a client can take":  {&wire.BodyTooLargeError{}, "more than a client can take"},
		"a page instead of an answer":  {errors.New("unexpected content type: text/html"), "no MCP endpoint"},
		"not the streamable HTTP URL":  {transport.ErrLegacySSEServer, `"type": "sse"`},
		"a POST that is not allowed":   {post(405), `"type": "sse"`},
		"not the event stream's URL":   {get(404), `"type": "http"`},
		"a GET that is not allowed":    {get(405), `"type": "http"`},
		"too many requests":            {post(429), "try again later"},
		"a proxy without its server":   {post(502), "try again later"},
		"another protocol":             {mcp.UnsupportedProtocolVersionError{}, "speaks no protocol version that was asked for"},
		"a process that has ended":     {transport.ErrTransportClosed, "run its command by hand"},
		"a pipe that nobody reads":     {&fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, "run its command by hand"},
		"a socket that nobody reads":   {&net.OpError{Op: "write", Err: syscall.EPIPE}, "see what the server says"},
		"a session that is gone":       {transport.ErrSessionTerminated, "connect again"},
		"a caller who gave up":         {context.Canceled, "cancelled"},
		"no answer":                    {context.DeadlineExceeded, "did not answer in time"},
		"what nobody has thought of":   {io.ErrUnexpectedEOF, "see what the server says"},
		"a status without a remedy":    {post(400), "see what the server says"},
		"an error without a type":      {errors.New("any"), "see what the server says"},
		"a JSON-RPC error of a server": {mcp.ErrInternalError, "see what the server says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, connect.Remedy(test.err), test.want)
			assert.Contains(t, connect.Remedy(fmt.Errorf("wrapped: %w", test.err)), test.want)
		})
	}
}
