package connect_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exhausted has a quota that is used up, whose code no specification names.
func exhausted(protocol string) badserver.Script {
	return badserver.Script{Protocol: protocol, Capabilities: json.RawMessage(`{"tools":{}}`), Answers: map[string][]badserver.Answer{
		"tools/list": {badserver.Tools("a")},
		"tools/call": {badserver.Fail(-32055, "quota")},
	}}
}

func TestEveryTransportTellsTheExchangeTheCode(t *testing.T) {
	t.Parallel()
	streaming := exhausted(mcp.ProtocolVersion20250618)
	streaming.Answers["tools/call"][0].SSE = true
	overSSEAt := overSSE(t, badserver.New(exhausted(mcp.ProtocolVersion20241105)))
	for name, target := range map[string]connect.Target{
		"HTTP, JSON":        connect.HTTP{URL: overHTTP(t, badserver.New(exhausted(mcp.ProtocolVersion20250618))).URL},
		"HTTP, events":      connect.HTTP{URL: overHTTP(t, badserver.New(streaming)).URL},
		"HTTP, 2026-07-28":  connect.HTTP{URL: overHTTP(t, badserver.New(exhausted(mcp.ProtocolVersion20260728))).URL},
		"HTTP+SSE":          connect.SSE{URL: overSSEAt.URL},
		"stdio":             newLeash(t).stdio(t, "server", exhausted(mcp.ProtocolVersion20250618)),
		"stdio, 2026-07-28": newLeash(t).stdio(t, "server", exhausted(mcp.ProtocolVersion20260728)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := connect.Open(t.Context(), target)
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			ctx, exchange := wire.WithExchange(t.Context())
			_, err = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "a"}})
			require.EqualError(t, err, "quota", "mcp-go keeps the text only")
			facts := exchange.Facts()
			assert.True(t, facts.Refused)
			assert.Equal(t, -32055, facts.Code)
			assert.Regexp(t, `^\d+$`, facts.RequestID)
			if _, isProcess := target.(connect.Stdio); isProcess {
				assert.Equal(t, wire.Peer{Transport: "pipe"}, facts.Peer)
			} else {
				assert.Equal(t, "tcp http 1.1 127.0.0.1", facts.Peer.Transport+" "+facts.Peer.Protocol+" "+facts.Peer.ProtocolVersion+" "+facts.Peer.Address)
				assert.NotZero(t, facts.Peer.Port)
			}
		})
	}
}

func TestAServerInThisProcessTellsTheExchangeToo(t *testing.T) {
	t.Parallel()
	c, err := connect.Open(t.Context(), connect.InProcess{Server: server.NewMCPServer("acme", "1", server.WithToolCapabilities(false))})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	ctx, exchange := wire.WithExchange(t.Context())
	_, err = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "unknown"}})
	require.ErrorIs(t, err, mcp.ErrInvalidParams)
	assert.Equal(t, mcp.INVALID_PARAMS, exchange.Facts().Code)
	assert.Zero(t, exchange.Facts().Peer)
}

// A server in this process works with the context of the call, as a gateway
// does; what it asks others for is no request of the call.
func TestWhatAServerInThisProcessAsksForIsKeptFromTheExchange(t *testing.T) {
	t.Parallel()
	behind, err := connect.Open(t.Context(), connect.HTTP{URL: overHTTP(t, badserver.New(exhausted(mcp.ProtocolVersion20250618))).URL})
	require.NoError(t, err)
	defer func() { require.NoError(t, behind.Close()) }()
	gateway := server.NewMCPServer("acme", "1")
	gateway.AddTool(mcp.NewTool("a"), func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, inner := wire.WithExchange(ctx)
		_, err := behind.CallTool(ctx, request)
		assert.Equal(t, -32055, inner.Facts().Code)
		return mcp.NewToolResultError(err.Error()), nil
	})
	c, err := connect.Open(t.Context(), connect.InProcess{Server: gateway})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	ctx, exchange := wire.WithExchange(t.Context())
	_, err = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "a"}})
	require.NoError(t, err)
	assert.Equal(t, wire.Facts{Sent: true, RequestID: exchange.Facts().RequestID}, exchange.Facts())
}

// TestTheExchangeCarriesMetaForRequestsWithoutRoomForIt is about the methods
// whose request structs have no _meta that mcp-go sends.
func TestTheExchangeCarriesMetaForRequestsWithoutRoomForIt(t *testing.T) {
	t.Parallel()
	calls := map[string]func(context.Context, client.MCPClient) error{
		"ping": func(ctx context.Context, c client.MCPClient) error { return c.Ping(ctx) },
		"logging/setLevel": func(ctx context.Context, c client.MCPClient) error {
			return c.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: "debug"}})
		},
		"resources/subscribe": func(ctx context.Context, c client.MCPClient) error {
			return c.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "a:b"}})
		},
		"completion/complete": func(ctx context.Context, c client.MCPClient) error {
			_, err := c.Complete(ctx, mcp.CompleteRequest{})
			return err
		},
	}
	for _, era := range []string{mcp.ProtocolVersion20250618, mcp.ProtocolVersion20260728} {
		scripted := badserver.New(badserver.Script{Protocol: era, Answers: map[string][]badserver.Answer{
			"logging/setLevel": {{}}, "resources/subscribe": {{}}, "completion/complete": {{}},
		}})
		c, err := connect.Open(t.Context(), connect.HTTP{URL: overHTTP(t, scripted).URL})
		require.NoError(t, err)
		ctx, exchange := wire.WithExchange(t.Context())
		exchange.Carry(map[string]string{"traceparent": "00-1-2-01"})
		for method, call := range calls {
			require.NoError(t, call(ctx, c), method)
			if scripted.Count(method) == 0 {
				assert.True(t, mcp.IsModernProtocol(era), "%s is always sent on older protocols", method)
				continue
			}
			meta, params := sentWith(t, scripted, method)
			assert.Equal(t, "00-1-2-01", meta["traceparent"], method)
			if mcp.IsModernProtocol(era) {
				assert.Equal(t, era, meta["io.modelcontextprotocol/protocolVersion"], "what was there stays")
			}
			if method == "resources/subscribe" {
				assert.JSONEq(t, `"a:b"`, string(params["uri"]))
			}
		}
		require.NoError(t, c.Close())
	}
}

// sentWith is what the last request of a method had in its params.
func sentWith(t *testing.T, s *badserver.Server, method string) (meta map[string]any, params map[string]json.RawMessage) {
	t.Helper()
	for _, request := range s.Requests() {
		if request.Method == method {
			params = nil
			require.NoError(t, json.Unmarshal(request.Params, &params))
		}
	}
	require.NoError(t, json.Unmarshal(params["_meta"], &meta))
	return meta, params
}
