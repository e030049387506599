package mcpclient_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireMethods are the methods of client.MCPClient and what each is called on
// the wire.
var wireMethods = map[string]string{
	"Initialize":                  "initialize",
	"Ping":                        "ping",
	"ListResourcesByPage":         "resources/list",
	"ListResources":               "resources/list",
	"ListResourceTemplatesByPage": "resources/templates/list",
	"ListResourceTemplates":       "resources/templates/list",
	"ReadResource":                "resources/read",
	"Subscribe":                   "resources/subscribe",
	"Unsubscribe":                 "resources/unsubscribe",
	"ListPromptsByPage":           "prompts/list",
	"ListPrompts":                 "prompts/list",
	"GetPrompt":                   "prompts/get",
	"ListToolsByPage":             "tools/list",
	"ListTools":                   "tools/list",
	"CallTool":                    "tools/call",
	"SetLevel":                    "logging/setLevel",
	"Complete":                    "completion/complete",
	"Close":                       "",
}

func TestEveryMethodPassesTheChainOnce(t *testing.T) {
	t.Parallel()
	type key struct{}
	require.Len(t, methods(t), len(wireMethods))
	for _, m := range methods(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			wire, known := wireMethods[m.name]
			require.True(t, known, "the table of wire methods lacks %s", m.name)
			ctx := context.WithValue(t.Context(), key{}, m.name)
			want, request := m.newResult(), m.newRequest()
			var seen recorder
			inner := &fake{answer: func(ctx context.Context, _ string, _ any) (any, error) {
				if m.name != "Close" {
					assert.Equal(t, m.name, ctx.Value(key{}), "the context")
				}
				return want, nil
			}}
			c := mcpclient.Wrap(inner, seen.middleware)

			got, err := m.call(ctx, t, c, request)

			require.NoError(t, err)
			if m.result != nil {
				assert.Same(t, want, got)
			}
			require.Len(t, seen.calls(), 1)
			call := seen.calls()[0]
			assert.Equal(t, m.name, call.Op)
			assert.Equal(t, mcp.MCPMethod(wire), call.Method)
			if request == nil {
				assert.Nil(t, call.Request)
			} else {
				require.Equal(t, reflect.PointerTo(m.request), reflect.TypeOf(call.Request))
				assert.Equal(t, request, reflect.ValueOf(call.Request).Elem().Interface())
			}
			assert.Equal(t, []received{{m.name, request}}, inner.calls())
		})
	}
}

func TestErrorsPassBackIdentical(t *testing.T) {
	t.Parallel()
	for _, m := range methods(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			want := errors.New("the server said no")
			for name, result := range map[string]any{"alone": nil, "with a result": m.newResult()} {
				inner := &fake{answer: func(context.Context, string, any) (any, error) { return result, want }}
				_, err := m.call(t.Context(), t, mcpclient.Wrap(inner, pass), m.newRequest())
				assert.Same(t, want, err, name)
			}
		})
	}
}

func TestOnNotificationPassesStraightThrough(t *testing.T) {
	t.Parallel()
	var seen recorder
	var notified []string
	c := mcpclient.Wrap(&fake{}, seen.middleware)

	c.OnNotification(func(n mcp.JSONRPCNotification) { notified = append(notified, n.JSONRPC) })

	assert.Equal(t, []string{"registered"}, notified)
	assert.Empty(t, seen.calls())
}

func TestWrapNeedsAClient(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "mcpclient: Wrap needs a client, got nil", func() { mcpclient.Wrap(nil) })
	var none *client.Client
	assert.PanicsWithValue(t, "mcpclient: Wrap needs a client, got a nil *client.Client", func() { mcpclient.Wrap(none) })
}

func TestTheCallersRequestIsNotShared(t *testing.T) {
	t.Parallel()
	request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
	inner := &fake{}
	c := mcpclient.Wrap(inner, changing(func(call *mcpclient.Call) {
		call.Request.(*mcp.CallToolRequest).Params.Name = "changed"
	}))

	_, err := c.CallTool(t.Context(), request)

	require.NoError(t, err)
	assert.Equal(t, "echo", request.Params.Name)
	assert.Equal(t, "changed", inner.calls()[0].Request.(mcp.CallToolRequest).Params.Name)
}

func TestAMiddlewareMayTurnACallIntoAnotherOfItsTypes(t *testing.T) {
	t.Parallel()
	inner := &fake{}
	c := mcpclient.Wrap(inner, changing(func(call *mcpclient.Call) { call.Op = "ListToolsByPage" }))

	_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})

	require.NoError(t, err)
	assert.Equal(t, []received{{"ListToolsByPage", mcp.ListToolsRequest{}}}, inner.calls())
}
