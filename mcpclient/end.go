package mcpclient

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// invoke is the end of the chain.
func (c *Client) invoke(ctx context.Context, call Call) (any, error) {
	row := call.row
	if row == nil || row.name != call.Op {
		row = operations[call.Op]
	}
	if row == nil {
		return nil, &ContractError{Op: call.Op, Part: "op", Want: "a method of client.MCPClient", Got: "an unknown name"}
	}
	result, err := c.untold.invoke(ctx, row, c.inner, call.Request)
	if err != nil {
		return nil, err
	}
	if handshake, ok := result.(*mcp.InitializeResult); ok {
		kept := *handshake
		c.server.Store(&kept)
	}
	return result, nil
}
