package connect

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// A Verification is the first real use of a new connection: a server may agree
// to a protocol in the handshake and then refuse every request in it. If it
// fails with [mcp.UnsupportedProtocolVersionError], the connector opens a fresh
// connection on an older protocol and verifies that; any other error fails the
// opening and is what the [*Error] wraps. A caller whose first list is the
// verification spends no extra request.
type Verification func(ctx context.Context, client *mcpclient.Client) error

// FirstPage verifies what [Connector.Open] opens. On protocol 2026-07-28 it asks
// for the first page of one advertised list; on older ones the handshake was a
// real request already, and it asks nothing. Any answer will do, a JSON-RPC
// error too, but not a time-out or a transport that failed.
func FirstPage(ctx context.Context, client *mcpclient.Client) error {
	server, known := client.Server()
	if !known || !mcp.IsModernProtocol(server.ProtocolVersion) {
		return nil
	}
	err := firstPage(ctx, client, server.Capabilities)
	if read := failure.Of(err); !read.Answered() || read.Kind == failure.Incompatible || ctx.Err() != nil {
		return err
	}
	return nil
}

func firstPage(ctx context.Context, client *mcpclient.Client, has mcp.ServerCapabilities) error {
	var err error
	switch {
	case capability.Tools.In(has):
		_, err = client.ListToolsByPage(ctx, mcp.ListToolsRequest{})
	case capability.Prompts.In(has):
		_, err = client.ListPromptsByPage(ctx, mcp.ListPromptsRequest{})
	case capability.Resources.In(has):
		_, err = client.ListResourcesByPage(ctx, mcp.ListResourcesRequest{})
	}
	return err
}

func (c *Connector) firstPage(ctx context.Context, client *mcpclient.Client) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.timeouts.Verification)
	defer cancel()
	return FirstPage(ctx, client)
}
