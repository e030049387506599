package wire_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// streams replies with these lines as an event stream.
func streams(status int, lines ...string) reply {
	return func(w http.ResponseWriter, id json.RawMessage) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(strings.Join(lines, ""), "$ID", string(id)))
	}
}

const (
	quota     = `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32055,"message":"quota"}}`
	nested    = `{"jsonrpc":"2.0","id":$ID,"result":{"prompts":[],"error":{"code":-2,"message":"a result"}}}`
	progress  = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
	unkeyed   = `{"jsonrpc":"2.0","error":{"code":-32056,"message":"unreadable"}}`
	stringErr = `{"jsonrpc":"2.0","id":$ID,"error":"text"}`
)

func TestTheExchangeLearnsTheCodeThatMCPGoFlattens(t *testing.T) {
	t.Parallel()
	long := `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32055,"message":"` + strings.Repeat("x", 70<<10) + `"}}`
	for name, test := range map[string]struct {
		reply   reply
		refused bool
		code    int
	}{
		"JSON":                               {says(200, quota), true, -32055},
		"JSON under a failure's status":      {says(400, quota), true, -32055},
		"JSON without an id, likewise":       {says(400, unkeyed), true, -32056},
		"a 404 that says method not found":   {methodNotFound, true, -32601},
		"an error that is a string":          {says(200, stringErr), true, -32603},
		"a success":                          {says(200, nested), false, 0},
		"an error longer than anybody reads": {says(200, long), false, 0},
		"an HTTP failure":                    {says(503, `{"message":"busy"}`), false, 0},
		"an event":                           {streams(200, "event: message\n", "data: "+quota+"\n\n"), true, -32055},
		"an event after others": {
			streams(200, ": hello\r\n\r\n", "data: "+progress+"\r\n\r\n", "data:"+quota+"\r\n\r\n"), true, -32055,
		},
		"the last event, not ended": {streams(200, "data: "+quota+"\n"), true, -32055},
		"an event with a success":   {streams(200, "data: "+nested+"\n\n"), false, 0},
		"an event after a long one": {streams(200, ": "+strings.Repeat("x", 70<<10)+"\n\n", "data: "+quota+"\n\n"), true, -32055},
	} {
		for _, era := range eras {
			t.Run(name+" "+era, func(t *testing.T) {
				t.Parallel()
				_, wired := plainAndWired(t, era, &script{replies: map[string]reply{"prompts/list": test.reply}})
				ctx, exchange := wire.WithExchange(t.Context())
				_, err := wired.ListPrompts(ctx, mcp.ListPromptsRequest{})
				facts := exchange.Facts()
				assert.Equal(t, test.refused, facts.Refused)
				assert.Equal(t, test.code, facts.Code)
				if test.refused {
					require.Error(t, err)
				}
				assert.True(t, facts.Sent)
				assert.Equal(t, "2", facts.RequestID, "the handshake was the first")
				if !mcp.IsModernProtocol(era) {
					assert.Equal(t, "session-1", facts.SessionID)
				}
				peer := wire.Peer{Transport: "tcp", Protocol: "http", ProtocolVersion: "1.1", Address: "server.example", Port: 80}
				assert.Equal(t, peer, facts.Peer)
			})
		}
	}
}

func TestTheExchangeForgetsTheRequestBeforeTheLast(t *testing.T) {
	t.Parallel()
	_, wired := plainAndWired(t, mcp.ProtocolVersion20251125, &script{replies: map[string]reply{"prompts/list": says(200, quota)}})
	ctx, exchange := wire.WithExchange(t.Context())
	_, err := wired.ListPrompts(ctx, mcp.ListPromptsRequest{})
	require.Error(t, err)
	require.True(t, exchange.Facts().Refused)
	_, err = wired.ListTools(ctx, mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.False(t, exchange.Facts().Refused)
	assert.Equal(t, "3", exchange.Facts().RequestID)
}

func TestExchangesNest(t *testing.T) {
	t.Parallel()
	ctx, outer := wire.WithExchange(t.Context())
	outer.Carry(map[string]string{"a": "1"})
	_, sibling := wire.WithExchange(ctx)
	type key struct{}
	ctx, inner := wire.WithExchange(context.WithValue(ctx, key{}, "kept"))
	assert.Equal(t, "kept", ctx.Value(key{}))
	assert.Same(t, inner, wire.ExchangeOf(ctx))
	assert.Equal(t, map[string]string{"a": "1"}, inner.Meta(), "who carries nothing passes on what is carried around it")
	inner.Carry(map[string]string{"b": "2"})
	assert.Equal(t, map[string]string{"b": "2"}, inner.Meta())

	inner.Sent("1", "s")
	inner.Reached(wire.Peer{Transport: "pipe"})
	inner.Refused(wire.Refusal{Code: -1})
	want := wire.Facts{Sent: true, RequestID: "1", SessionID: "s", Refused: true, Code: -1, Peer: wire.Peer{Transport: "pipe"}}
	assert.Equal(t, want, inner.Facts())
	assert.Equal(t, want, outer.Facts())
	assert.Zero(t, sibling.Facts())
}

func TestNobodyNeedsAnExchange(t *testing.T) {
	t.Parallel()
	exchange := wire.ExchangeOf(t.Context())
	assert.Nil(t, exchange)
	assert.NotPanics(t, func() {
		exchange.Sent("1", "")
		exchange.Refused(wire.Refusal{Code: 1})
		exchange.Reached(wire.Peer{})
		exchange.Carry(nil)
	})
	assert.Zero(t, exchange.Facts())
	assert.Nil(t, exchange.Meta())
	assert.Equal(t, t.Context(), wire.WithoutExchange(t.Context()))
	ctx, _ := wire.WithExchange(t.Context())
	assert.Nil(t, wire.ExchangeOf(wire.WithoutExchange(ctx)))
}

// TestWhoTellsTheExchangeHimselfIsNotContradicted is about a client whose
// transport decodes the answers, as those of package connect do.
func TestWhoTellsTheExchangeHimselfIsNotContradicted(t *testing.T) {
	t.Parallel()
	_, wired := plainAndWired(t, mcp.ProtocolVersion20251125, &script{replies: map[string]reply{"prompts/list": says(200, quota)}})
	ctx, exchange := wire.WithExchange(t.Context())
	exchange.Sent("mine", "")
	_, err := wired.ListPrompts(ctx, mcp.ListPromptsRequest{})
	require.Error(t, err)
	assert.Equal(t, "mine", exchange.Facts().RequestID)
	assert.False(t, exchange.Facts().Refused)
	assert.Equal(t, "1.1", exchange.Facts().Peer.ProtocolVersion)
}

func TestAnExchangeMayBeUsedByManyGoroutines(t *testing.T) {
	t.Parallel()
	ctx, exchange := wire.WithExchange(t.Context())
	var running sync.WaitGroup
	for i := range 16 {
		running.Go(func() {
			_, inner := wire.WithExchange(ctx)
			inner.Sent("1", "")
			inner.Refused(wire.Refusal{Code: i})
			assert.Equal(t, i, inner.Facts().Code)
		})
	}
	running.Wait()
	assert.True(t, exchange.Facts().Refused)
}

func TestAnExchangeCostsOneAllocation(t *testing.T) {
	ctx := context.Background()
	assert.InDelta(t, 1, testing.AllocsPerRun(100, func() { _, _ = wire.WithExchange(ctx) }), 0.1)
}
