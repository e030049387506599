package connect_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
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

func TestAnAnswerHasTheExactRefusal(t *testing.T) {
	t.Parallel()
	refusal := badserver.Answer{Error: &badserver.Error{Code: -32055, Message: "mind the gap", Data: json.RawMessage(`{"gap":1}`)}}
	asking(t, with(honest(modern), "tools/call", refusal.Once(), badserver.Result(mcp.NewToolResultText("fine"))), func(t *testing.T, c *mcpclient.Client) {
		ctx, answer := connect.WithAnswer(soon(t))
		_, known := answer.Refusal()
		assert.False(t, known, "nothing was asked yet")
		_, err := c.CallTool(ctx, callOf("search"))
		require.Error(t, err)
		said, known := answer.Refusal()
		require.True(t, known)
		assert.Equal(t, mcp.JSONRPCErrorDetails{Code: -32055, Message: "mind the gap", Data: map[string]any{"gap": 1.0}}, said)

		_, err = c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		_, known = answer.Refusal()
		assert.False(t, known, "the last answer counts")
	})
}

func TestAnAnswerHasTheSchemasAsTheServerWroteThem(t *testing.T) {
	t.Parallel()
	const input = `{"type":"object","oneOf":[{"required":["a"]}],"x-limit":12345678901234567890}`
	list := badserver.Answer{Result: json.RawMessage(`{"tools":[{"name":"search","inputSchema":` + input + `,"outputSchema":true},{"name":"plain","inputSchema":{"type":"object"}}]}`)}
	script := with(honest(legacy), "tools/list", list)
	asking(t, script, func(t *testing.T, c *mcpclient.Client) {
		ctx, answer := connect.WithAnswer(soon(t))
		_, _ = c.ListTools(ctx, mcp.ListToolsRequest{}) // what mcp-go makes of it is its own affair
		assert.JSONEq(t, input, string(answer.Schemas("search").Input))
		assert.Equal(t, "true", string(answer.Schemas("search").Output))
		assert.Nil(t, answer.Schemas("plain").Output)
		assert.Zero(t, answer.Schemas("unknown"))
	})
}

func TestWhoTakesRoundsIsToldWhatTheServerNeeds(t *testing.T) {
	t.Parallel()
	needs := badserver.Answer{Result: json.RawMessage(`{"resultType":"input_required","inputRequests":{"where":{"method":"roots/list"}},"requestState":"s1"}`)}
	done := badserver.Result(mcp.NewToolResultText("done"))
	asking(t, with(honest(modern), "tools/call", needs.Once(), done), func(t *testing.T, c *mcpclient.Client) {
		ctx, answer := connect.WithAnswer(soon(t))
		answer.TakeRounds(mcp.MultiRoundTripParams{})
		_, required := answer.Required()
		assert.False(t, required)
		result, err := c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		assert.Empty(t, result.Content)
		needed, required := answer.Required()
		require.True(t, required)
		assert.Equal(t, "s1", needed.RequestState)
		assert.Contains(t, needed.InputRequests, "where")

		ctx, answer = connect.WithAnswer(soon(t))
		answer.TakeRounds(mcp.MultiRoundTripParams{RequestState: "s1", InputResponses: mcp.InputResponses{}})
		result, err = c.CallTool(ctx, callOf("search"))
		require.NoError(t, err)
		assert.Len(t, result.Content, 1)
		_, required = answer.Required()
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
	for name, ctx := range map[string]context.Context{"without an answer": overdue{soon(t)}, "with one": overdue{withAnswer(t)}} {
		_, err = c.CallTool(ctx, callOf("search"))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
	}
}

func withAnswer(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := connect.WithAnswer(soon(t))
	return ctx
}
