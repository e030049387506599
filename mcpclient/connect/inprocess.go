package connect

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"
)

// InProcess is a server of mcp-go in this process.
type InProcess struct {
	Server *server.MCPServer
}

// Dial returns a transport that calls the server directly.
func (p InProcess) Dial(context.Context) (transport.Interface, error) {
	if p.Server == nil {
		return nil, errors.New("the server is nil")
	}
	return transport.NewInProcessTransport(p.Server), nil
}

// String says that the server is in this process.
func (p InProcess) String() string { return "in-process server" }
