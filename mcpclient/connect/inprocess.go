package connect

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// InProcess is a server of mcp-go in this process.
type InProcess struct {
	Server *server.MCPServer
}

// Dial returns a transport that calls the server directly.
func (p InProcess) Dial(ctx context.Context) (transport.Interface, error) {
	return p.dial(ctx, options{})
}

// dial leaves it to mcp-go to hand the handlers among the client's options to
// the transport, which the server calls directly.
func (p InProcess) dial(_ context.Context, o options) (transport.Interface, error) {
	if p.Server == nil {
		return nil, &TargetError{"the server is nil", "give one that server.NewMCPServer of mcp-go made"}
	}
	c, err := client.NewInProcessClientWithOptions(p.Server, o.client...)
	if err != nil {
		return nil, err
	}
	t, ok := c.GetTransport().(*transport.InProcessTransport)
	if !ok {
		return nil, fmt.Errorf("mcp-go connects in this process over a %T", c.GetTransport())
	}
	return inProcess{t}, nil
}

// inProcess tells what was answered.
type inProcess struct{ *transport.InProcessTransport }

// SendRequest has the server answer.
func (t inProcess) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return send(ctx, hidden(t), request)
}

// hidden keeps the exchange of the call from the server, which works with the
// same context.
type hidden struct{ *transport.InProcessTransport }

func (t hidden) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return t.InProcessTransport.SendRequest(wire.WithoutExchange(ctx), request)
}

// String says that the server is in this process.
func (p InProcess) String() string { return "in-process server" }
