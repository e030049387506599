package connect_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answeringly are the ways to a script that tell what mcp-go keeps to itself.
var answeringly = map[string]func(*testing.T, badserver.Script) connect.Target{
	"over HTTP": func(t *testing.T, script badserver.Script) connect.Target {
		return connect.HTTP{URL: overHTTP(t, badserver.New(script)).URL}
	},
	"over stdio": func(t *testing.T, script badserver.Script) connect.Target {
		return newLeash(t).stdio(t, "server", script)
	},
}

// asking opens a connection to a script over each transport.
func asking(t *testing.T, script badserver.Script, test func(*testing.T, *mcpclient.Client)) {
	t.Helper()
	for name, target := range answeringly {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := connect.Open(soon(t), target(t, script))
			require.NoError(t, err)
			defer func() { assert.NoError(t, c.Close()) }()
			test(t, c)
		})
	}
}

func TestTheExchangeHasTheExactRefusal(t *testing.T) {
	t.Parallel()
	refusal := badserver.Answer{Error: &badserver.Error{Code: -32055, Message: "mind the gap", Data: json.RawMessage(`{"gap":1}`)}}
	asking(t, with(honest(modern), "tools/call", refusal.Once(), badserver.Result(mcp.NewToolResultText("fine"))), func(t *testing.T, c *mcpclient.Client) {
		ctx, exchange := wire.WithExchange(soon(t))
		_, known := exchange.Refusal()
		assert.False(t, known, "nothing was asked yet")
		_, err := c.CallTool(ctx, callOf("search"))
		require.Error(t, err)
		said, known := exchange.Refusal()
		require.True(t, known)
		assert.Equal(t, wire.Refusal{Code: -32055, Message: "mind the gap", Data: json.RawMessage(`{"gap":1}`)}, said)

		_, err = c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		_, known = exchange.Refusal()
		assert.False(t, known, "the last answer counts")
	})
}

func TestAHookIsGivenEachResultAsTheServerWroteIt(t *testing.T) {
	t.Parallel()
	const wrote = `{"tools":[{"name":"search","inputSchema":{"type":"object","x-limit":12345678901234567890}}],"vendor":9007199254740993}`
	script := with(honest(legacy), "tools/list", badserver.Answer{Result: json.RawMessage(wrote)})
	asking(t, script, func(t *testing.T, c *mcpclient.Client) {
		var heard []string
		ctx, exchange := wire.WithExchange(soon(t))
		exchange.Hook(wire.Hooks{Result: func(method string, result json.RawMessage) json.RawMessage {
			heard = append(heard, method+" "+string(result))
			return json.RawMessage(`{"tools":[{"name":"another","inputSchema":{"type":"object"}}]}`)
		}})
		result, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Equal(t, []string{"tools/list " + wrote}, heard)
		assert.Equal(t, "another", result.Tools[0].Name, "and decodes what the hook returns")
	})
}

func TestAHookMayRefuseToSend(t *testing.T) {
	t.Parallel()
	refused := errors.New("not these")
	asking(t, honest(legacy), func(t *testing.T, c *mcpclient.Client) {
		ctx, exchange := wire.WithExchange(soon(t))
		exchange.Hook(wire.Hooks{Params: func(string, any) (any, error) { return nil, refused }})
		_, err := c.CallTool(ctx, callOf("search"))
		require.ErrorIs(t, err, refused)
	})
}

func TestWhoTakesRoundsIsToldWhatTheServerNeeds(t *testing.T) {
	t.Parallel()
	needs := badserver.Answer{Result: json.RawMessage(`{"resultType":"input_required","inputRequests":{"where":{"method":"roots/list"}},"requestState":"s1"}`)}
	done := badserver.Result(mcp.NewToolResultText("done"))
	asking(t, with(honest(modern), "tools/call", needs.Once(), done), func(t *testing.T, c *mcpclient.Client) {
		ctx, exchange := wire.WithExchange(soon(t))
		rounds := connect.NewMultiRoundTrip(exchange, mcp.MultiRoundTripParams{})
		_, required := rounds.Required()
		assert.False(t, required)
		result, err := c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		assert.Empty(t, result.Content)
		needed, required := rounds.Required()
		require.True(t, required)
		assert.Equal(t, "s1", needed.RequestState)
		assert.Contains(t, needed.InputRequests, "where")

		ctx, exchange = wire.WithExchange(soon(t))
		rounds = connect.NewMultiRoundTrip(exchange, mcp.MultiRoundTripParams{RequestState: "s1", InputResponses: mcp.InputResponses{}})
		result, err = c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		assert.Len(t, result.Content, 1)
		_, required = rounds.Required()
		assert.False(t, required)
	})
}

// overdue is a context whose deadline has passed and which has not noticed yet.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// mcp-go v1.2.1 returns neither an answer nor an error then.
func TestADeadlineThatPassesUnnoticedOverSSEIsATimeOut(t *testing.T) {
	t.Parallel()
	s := badserver.New(with(honest(legacy), "tools/call", badserver.Answer{Hang: true}))
	c, err := connect.Open(soon(t), connect.SSE{URL: overSSE(t, s).URL})
	require.NoError(t, err)
	defer c.Close()
	for name, ctx := range map[string]context.Context{"without an exchange": overdue{soon(t)}, "with one": overdue{withExchange(t)}} {
		_, err = c.CallTool(ctx, callOf("search"))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
	}
}

func withExchange(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := wire.WithExchange(soon(t))
	return ctx
}
