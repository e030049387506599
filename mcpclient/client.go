package mcpclient

import (
	"context"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// A Client is a [client.MCPClient] whose calls pass a chain of middlewares. It
// is as safe for concurrent use as the client it wraps; mcp-go's is.
type Client struct {
	inner  client.MCPClient
	untold untold
	handle Handler
	server atomic.Pointer[mcp.InitializeResult]
}

var _ client.MCPClient = (*Client)(nil)

// Wrap returns a client that passes every call through the middlewares, the
// first listed outermost, to inner. It costs one allocation per call, the copy
// of the request, and what the middlewares add. Closing the client closes
// inner. It panics if inner is nil, or is a pointer that is.
func Wrap(inner client.MCPClient, middlewares ...Middleware) *Client {
	if isNil(inner) {
		panic("mcpclient: Wrap needs a client, got " + describe(inner))
	}
	c := &Client{inner: inner, untold: untoldBy(inner)}
	c.handle = Chain(middlewares...)(c.invoke)
	return c
}

// Server returns what the server said in its handshake and whether that is
// known, as [Call.Server] does.
func (c *Client) Server() (*mcp.InitializeResult, bool) {
	server := c.server.Load()
	if server == nil {
		server = handshakeOf(c.inner)
		c.server.CompareAndSwap(nil, server)
	}
	return server, server != nil
}

// Unwrap returns the client that the chain ends in. What is called on it
// directly bypasses the chain.
func (c *Client) Unwrap() client.MCPClient { return c.inner }

// Initialize performs the handshake.
func (c *Client) Initialize(ctx context.Context, request mcp.InitializeRequest) (*mcp.InitializeResult, error) {
	return initialize.send(ctx, c, &request)
}

// Ping checks if the server is alive. On protocol 2026-07-28 mcp-go sends
// nothing and returns nil.
func (c *Client) Ping(ctx context.Context) error {
	return ping.send(ctx, c)
}

// ListResourcesByPage returns one page of the server's resources.
func (c *Client) ListResourcesByPage(ctx context.Context, request mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	return listResourcesByPage.send(ctx, c, &request)
}

// ListResources returns all of the server's resources.
func (c *Client) ListResources(ctx context.Context, request mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	return listResources.send(ctx, c, &request)
}

// ListResourceTemplatesByPage returns one page of the server's resource templates.
func (c *Client) ListResourceTemplatesByPage(ctx context.Context, request mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	return listResourceTemplatesByPage.send(ctx, c, &request)
}

// ListResourceTemplates returns all of the server's resource templates.
func (c *Client) ListResourceTemplates(ctx context.Context, request mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	return listResourceTemplates.send(ctx, c, &request)
}

// ReadResource reads one resource.
func (c *Client) ReadResource(ctx context.Context, request mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return readResource.send(ctx, c, &request)
}

// Subscribe asks for notifications about one resource.
func (c *Client) Subscribe(ctx context.Context, request mcp.SubscribeRequest) error {
	return subscribe.send(ctx, c, &request)
}

// Unsubscribe ends the notifications about one resource.
func (c *Client) Unsubscribe(ctx context.Context, request mcp.UnsubscribeRequest) error {
	return unsubscribe.send(ctx, c, &request)
}

// ListPromptsByPage returns one page of the server's prompts.
func (c *Client) ListPromptsByPage(ctx context.Context, request mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	return listPromptsByPage.send(ctx, c, &request)
}

// ListPrompts returns all of the server's prompts.
func (c *Client) ListPrompts(ctx context.Context, request mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	return listPrompts.send(ctx, c, &request)
}

// GetPrompt renders one prompt.
func (c *Client) GetPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return getPrompt.send(ctx, c, &request)
}

// ListToolsByPage returns one page of the server's tools.
func (c *Client) ListToolsByPage(ctx context.Context, request mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	return listToolsByPage.send(ctx, c, &request)
}

// ListTools returns all of the server's tools.
func (c *Client) ListTools(ctx context.Context, request mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	return listTools.send(ctx, c, &request)
}

// CallTool calls one tool. A tool that fails answers with a result whose
// IsError is set, not with an error.
func (c *Client) CallTool(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return callTool.send(ctx, c, &request)
}

// SetLevel sets the lowest level of the log messages the server sends. On
// protocol 2026-07-28 mcp-go sends nothing and adds it to later requests.
func (c *Client) SetLevel(ctx context.Context, request mcp.SetLevelRequest) error {
	return setLevel.send(ctx, c, &request)
}

// Complete asks for completions of an argument.
func (c *Client) Complete(ctx context.Context, request mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return complete.send(ctx, c, &request)
}

// Close passes the chain as a call without a wire method and closes the inner
// client.
func (c *Client) Close() error {
	return closing.send(context.Background(), c)
}

// OnNotification registers a handler with the inner client. It does not pass
// the chain, and neither do the notifications.
func (c *Client) OnNotification(handler func(notification mcp.JSONRPCNotification)) {
	c.inner.OnNotification(handler)
}
