package endpoint_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roots answers roots/list.
type roots struct{}

func (roots) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///here"}}}, nil
}

// dial connects mcp-go's client.
func (s *site) dial(version string, options ...transport.StreamableHTTPCOption) (*client.Client, <-chan mcp.JSONRPCNotification) {
	s.t.Helper()
	over, err := transport.NewStreamableHTTP(s.url, append(options, transport.WithHTTPBasicClient(s.http))...)
	require.NoError(s.t, err)
	c := client.NewClient(over, client.WithProtocolVersion(version), client.WithRootsHandler(roots{}))
	heard := make(chan mcp.JSONRPCNotification, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) { heard <- n })
	require.NoError(s.t, c.Start(context.Background()))
	s.t.Cleanup(func() { _ = c.Close() })
	result, err := c.Initialize(s.t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: mcp.Implementation{Name: "me", Version: "1"}}})
	require.NoError(s.t, err)
	require.Equal(s.t, version, result.ProtocolVersion)
	return c, heard
}

func TestClientsOfBothEras(t *testing.T) {
	t.Parallel()
	for _, version := range []string{legacy, modern} {
		s := serve(t, map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
			var params mcp.CallToolParams
			if err := r.Decode(&params); err != nil || params.Name == "wrong" {
				return nil, mcp.ErrInvalidParams
			}
			r.Notify(note("notifications/progress", map[string]any{"progressToken": "p", "progress": 1}))
			return mcp.NewToolResultText("done by " + r.Client.Version()), nil
		}}, endpoint.Options{})
		c, heard := s.dial(version)
		result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "täglich"}})
		require.NoError(t, err)
		assert.Equal(t, mcp.NewTextContent("done by "+version), result.Content[0])
		assert.Equal(t, "notifications/progress", receive(t, heard).Method)
		_, err = c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "wrong"}})
		assert.ErrorIs(t, err, mcp.ErrInvalidParams)
	}
}

func TestALegacyClientIsAskedAndNotified(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		var got mcp.ListRootsResult
		if err := r.Ask(ctx, mcp.MethodListRoots, nil, &got); err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(got.Roots[0].URI), nil
	}}, endpoint.Options{})
	c, heard := s.dial(legacy, transport.WithContinuousListening())
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "t"}})
	require.NoError(t, err)
	assert.Equal(t, mcp.NewTextContent("file:///here"), result.Content[0])

	side := s.client("initialize")
	side.Notify(note("notifications/tools/list_changed", nil))
	assert.Equal(t, "notifications/tools/list_changed", receive(t, heard).Method)
	var got mcp.ListRootsResult
	require.NoError(t, side.Ask(soon(t), mcp.MethodListRoots, nil, &got))
	assert.Equal(t, "file:///here", got.Roots[0].URI)
	require.NoError(t, c.Close())
	assert.Same(t, side, receive(t, s.left), "closing ends the session")
}

func TestAModernClientSubscribes(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"subscriptions/listen": listening}, endpoint.Options{})
	c, heard := s.dial(modern)
	ended := make(chan error, 1)
	go func() { ended <- c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}) }()
	assert.Equal(t, "notifications/subscriptions/acknowledged", receive(t, heard).Method)
	s.client("subscriptions/listen").Notify(note("notifications/tools/list_changed", nil))
	assert.Equal(t, "notifications/tools/list_changed", receive(t, heard).Method)
	require.NoError(t, s.endpoint.Shutdown(soon(t)))
	assert.NoError(t, receive(t, ended))
}
