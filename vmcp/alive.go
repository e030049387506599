package vmcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// alive asks a server whether it is alive, with one request. No list that a
// server may lack is ever asked for.
func alive(ctx context.Context, c *mcpclient.Client) error {
	server, _ := c.Server() // known since the handshake
	switch {
	case !mcp.IsModernProtocol(server.ProtocolVersion):
		return pings(ctx, c)
	case capability.Tools.In(server.Capabilities):
		return listsTools(ctx, c)
	default:
		return discovers(ctx, c)
	}
}

// pings takes -32601 for an answer, as it is one.
func pings(ctx context.Context, c *mcpclient.Client) error {
	if err := exactly(ctx, c.Ping); !failure.IsMethodNotFound(err) {
		return err
	}
	return nil
}

func listsTools(ctx context.Context, c *mcpclient.Client) error {
	return exactly(ctx, func(ctx context.Context) error {
		_, err := c.ListToolsByPage(ctx, mcp.ListToolsRequest{})
		return err
	})
}

// discovers bypasses the chain, which has no such call: it is not part of
// client.MCPClient.
func discovers(ctx context.Context, c *mcpclient.Client) error {
	inner, ok := mcpclient.As[*client.Client](c)
	if !ok {
		return fmt.Errorf("no way to ask a %T whether it is alive", c.Unwrap())
	}
	return exactly(ctx, func(ctx context.Context) error {
		_, err := inner.Discover(ctx, mcp.DiscoverRequest{})
		return err
	})
}
