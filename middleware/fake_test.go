package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/require"
)

// everything are the capabilities of a server that advertises all that the
// rule of tolerance is about.
const everything = `{"tools":{},"resources":{},"prompts":{},"completions":{},"logging":{}}`

// errUnknownMethod is what mcp-go makes of JSON-RPC -32601.
var errUnknownMethod = (&mcp.JSONRPCErrorDetails{Code: -32601, Message: "Unknown method"}).AsError()

// server is the client at the end of the chain: it has a handshake and can be
// closed. All other calls are answered before they get there.
type server struct {
	client.MCPClient
	handshake *mcp.InitializeResult
	closeErr  error
}

func (s *server) Initialize(context.Context, mcp.InitializeRequest) (*mcp.InitializeResult, error) {
	if s.handshake == nil {
		return nil, errors.New("no handshake")
	}
	return s.handshake, nil
}

func (s *server) Close() error { return s.closeErr }

// newServer is one that says it has these capabilities, a JSON object.
func newServer(t testing.TB, capabilities string) *server {
	t.Helper()
	said := &mcp.InitializeResult{ProtocolVersion: "2025-06-18", ServerInfo: mcp.Implementation{Name: "acme", Version: "1.2.3"}}
	require.NoError(t, json.Unmarshal([]byte(capabilities), &said.Capabilities))
	return &server{handshake: said}
}

// answer is what the server answers; it takes the place of the wire.
type answer func(ctx context.Context, call mcpclient.Call) (any, error)

// always answers every call alike.
func always(result any, err error) answer {
	return func(context.Context, mcpclient.Call) (any, error) { return result, err }
}

// wire is the innermost middleware.
func (a answer) wire(next mcpclient.Handler) mcpclient.Handler {
	return func(ctx context.Context, call mcpclient.Call) (any, error) {
		if call.Op == "Initialize" || call.Op == "Close" {
			return next(ctx, call)
		}
		return a(ctx, call)
	}
}

// connect makes a client of the server, with a handshake, whose calls pass the
// middlewares to the answer.
func connect(t testing.TB, s *server, a answer, middlewares ...mcpclient.Middleware) *mcpclient.Client {
	t.Helper()
	c := mcpclient.Wrap(s, mcpclient.Chain(middlewares...), a.wire)
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	return c
}
