package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tookAWhile answers after 25 ms.
func tookAWhile(result any, err error) answer {
	return func(context.Context, mcpclient.Call) (any, error) {
		<-time.After(25 * time.Millisecond)
		return result, err
	}
}

func callTool(ctx context.Context, c *mcpclient.Client) error {
	request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"password": "hunter2"}}}
	_, err := c.CallTool(ctx, request)
	return err
}

func getPrompt(ctx context.Context, c *mcpclient.Client) error {
	_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "greet"}})
	return err
}

func listTools(ctx context.Context, c *mcpclient.Client) error {
	_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	return err
}

func TestLoggingWritesOneRecordForEachCall(t *testing.T) {
	t.Parallel()
	took := float64(25 * time.Millisecond)
	tests := map[string]struct {
		answer answer
		call   func(context.Context, *mcpclient.Client) error
		want   map[string]any
	}{
		"a success is DEBUG": {
			tookAWhile(&mcp.ListToolsResult{}, nil), listTools,
			map[string]any{"level": "DEBUG", "operation": "ListTools", "method": "tools/list", "outcome": "ok", "duration": took},
		},
		"a tool's success names the tool": {
			tookAWhile(mcp.NewToolResultText("hunter2"), nil), callTool,
			map[string]any{"level": "DEBUG", "operation": "CallTool", "method": "tools/call", "tool": "echo", "outcome": "ok", "duration": took},
		},
		"a tool's result with isError is INFO": {
			tookAWhile(mcp.NewToolResultError("hunter2"), nil), callTool,
			map[string]any{"level": "INFO", "operation": "CallTool", "method": "tools/call", "tool": "echo", "outcome": "tool_error", "duration": took},
		},
		"a prompt's success names the prompt": {
			tookAWhile(&mcp.GetPromptResult{}, nil), getPrompt,
			map[string]any{"level": "DEBUG", "operation": "GetPrompt", "method": "prompts/get", "prompt": "greet", "outcome": "ok", "duration": took},
		},
		"a method without a result": {
			tookAWhile(nil, nil), func(ctx context.Context, c *mcpclient.Client) error { return c.Ping(ctx) },
			map[string]any{"level": "DEBUG", "operation": "Ping", "method": "ping", "outcome": "ok", "duration": took},
		},
		"Close has no method on the wire": {
			nil, func(_ context.Context, c *mcpclient.Client) error { return c.Close() },
			map[string]any{"level": "DEBUG", "operation": "Close", "method": "", "outcome": "ok", "duration": 0.0},
		},
		"a failure with a known code is WARN": {
			tookAWhile(nil, (&mcp.JSONRPCErrorDetails{Code: -32602, Message: "no such tool"}).AsError()), callTool,
			map[string]any{
				"level": "WARN", "operation": "CallTool", "method": "tools/call", "tool": "echo", "outcome": "error", "duration": took,
				"code": -32602.0, "error": "invalid params: no such tool",
			},
		},
		"a failure whose code mcp-go does not keep is WARN": {
			tookAWhile(nil, (&mcp.JSONRPCErrorDetails{Code: -32000, Message: "overloaded"}).AsError()), listTools,
			map[string]any{"level": "WARN", "operation": "ListTools", "method": "tools/list", "outcome": "error", "duration": took, "error": "overloaded"},
		},
		"a client that was closed during the call is a failure, not a cancellation": {
			tookAWhile(nil, transport.NewError(context.Canceled)), listTools,
			map[string]any{
				"level": "WARN", "operation": "ListTools", "method": "tools/list", "outcome": "error", "duration": took,
				"error": "transport error: context canceled",
			},
		},
		"a result that comes with an error is a failure": {
			tookAWhile(mcp.NewToolResultError("hunter2"), errors.New("failed")), callTool,
			map[string]any{
				"level": "WARN", "operation": "CallTool", "method": "tools/call", "tool": "echo", "outcome": "error", "duration": took,
				"error": "failed",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log mcptest.Journal
				c := connect(t, newServer(t, everything), test.answer, middleware.Logging(log.Logger()))
				log.Drain() // of the handshake

				_ = test.call(t.Context(), c)

				test.want["msg"] = "mcp call"
				log.Only(t).HasOnly(t, test.want)
			})
		})
	}
}

func TestLoggingTellsACancellationFromATimeOut(t *testing.T) {
	t.Parallel()
	waiting := answer(func(ctx context.Context, _ mcpclient.Call) (any, error) {
		<-ctx.Done()
		return nil, transport.NewError(ctx.Err())
	})
	synctest.Test(t, func(t *testing.T) {
		var log mcptest.Journal
		c := connect(t, newServer(t, everything), waiting, middleware.Logging(log.Logger()))
		log.Drain()

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, listTools(ctx, c), context.Canceled)
		log.Only(t).HasOnly(t, map[string]any{
			"level": "DEBUG", "msg": "mcp call", "operation": "ListTools", "method": "tools/list", "outcome": "cancelled",
			"duration": float64(time.Second), "error": "transport error: context canceled",
		})

		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		require.ErrorIs(t, listTools(ctx, c), context.DeadlineExceeded)
		log.Only(t).HasOnly(t, map[string]any{
			"level": "WARN", "msg": "mcp call", "operation": "ListTools", "method": "tools/list", "outcome": "error",
			"duration": float64(2 * time.Second), "error": "transport error: context deadline exceeded",
		})
	})
}

func TestLoggingChangesNothing(t *testing.T) {
	t.Parallel()
	result, failed := &mcp.CallToolResult{}, errors.New("failed")
	var log mcptest.Journal
	c := connect(t, newServer(t, everything), always(result, nil), middleware.Logging(log.Logger()))
	got, err := c.CallTool(t.Context(), mcp.CallToolRequest{})
	require.NoError(t, err)
	assert.Same(t, result, got)

	c = connect(t, newServer(t, everything), always(nil, failed), middleware.Logging(log.Logger()))
	_, err = c.CallTool(t.Context(), mcp.CallToolRequest{})
	assert.Same(t, failed, err)
}

func TestLoggingTakesWhoTheServerIsFromTheLogger(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	c := connect(t, newServer(t, everything), always(nil, nil), middleware.Logging(log.Logger().With("backendID", "acme-1")))
	log.Drain()
	require.NoError(t, c.Ping(t.Context()))
	assert.Equal(t, "acme-1", log.Only(t)["backendID"])
}

func TestLoggingWithoutALoggerIsNoMiddleware(t *testing.T) {
	t.Parallel()
	assert.Nil(t, middleware.Logging(nil, middleware.WithPayloads()))
}

func TestArgumentsAndResultsAreLoggedOnlyOnDemand(t *testing.T) {
	t.Parallel()
	run := func(a answer, opts ...middleware.Option) string {
		var log mcptest.Journal
		c := connect(t, newServer(t, everything), a, middleware.Logging(log.Logger(), opts...))
		_ = callTool(t.Context(), c)
		return log.Drain()
	}
	assert.NotContains(t, run(always(mcp.NewToolResultText("s3cret"), nil)), "hunter2")
	assert.NotContains(t, run(always(mcp.NewToolResultText("s3cret"), nil)), "s3cret")
	assert.NotContains(t, run(always(mcp.NewToolResultError("s3cret"), nil)), "s3cret")
	assert.NotContains(t, run(always(nil, errors.New("failed"))), "hunter2")

	with := run(always(mcp.NewToolResultText("s3cret"), nil), middleware.WithPayloads())
	assert.Contains(t, with, "hunter2")
	assert.Contains(t, with, "s3cret")
}

func TestWithLevelAndWithFieldsReplaceThePolicy(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	c := connect(t, newServer(t, everything), always(mcp.NewToolResultText("fine"), nil), middleware.Logging(log.Logger(),
		middleware.WithLevel(func(o instrument.Outcome) slog.Level {
			assert.Contains(t, []string{"Initialize", "CallTool"}, o.Call.Op)
			return slog.LevelError
		}),
		middleware.WithFields(func(o instrument.Outcome) []slog.Attr { return []slog.Attr{slog.String("kind", o.Kind)} })))
	log.Drain()

	require.NoError(t, callTool(t.Context(), c))

	log.Only(t).HasOnly(t, map[string]any{"level": "ERROR", "msg": "mcp call", "kind": "ok"})
}

func TestNilOptionsKeepTheDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log mcptest.Journal
		c := connect(t, newServer(t, everything), tookAWhile(nil, nil),
			middleware.Logging(log.Logger(), nil, middleware.WithLevel(nil), middleware.WithFields(nil)))
		log.Drain()
		require.NoError(t, c.Ping(t.Context()))
		log.Only(t).HasOnly(t, map[string]any{
			"level": "DEBUG", "msg": "mcp call", "operation": "Ping", "method": "ping", "outcome": "ok", "duration": float64(25 * time.Millisecond),
		})
	})
}

func TestFieldsAreNotMadeForALevelThatIsOff(t *testing.T) {
	t.Parallel()
	warnings := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := connect(t, newServer(t, everything), always(nil, nil), middleware.Logging(warnings,
		middleware.WithFields(func(instrument.Outcome) []slog.Attr {
			t.Error("fields were made for nobody")
			return nil
		})))
	require.NoError(t, c.Ping(t.Context()))
}

// TestFieldsOfTheCallerAreNotWrittenInto has a function that gives every call
// the same slice with room to spare; the race detector sees who writes there.
func TestFieldsOfTheCallerAreNotWrittenInto(t *testing.T) {
	t.Parallel()
	shared := append(make([]slog.Attr, 0, 8), slog.String("kind", "shared"))
	var log mcptest.Journal
	c := connect(t, newServer(t, everything), always(nil, nil), middleware.Logging(log.Logger(), middleware.WithPayloads(),
		middleware.WithFields(func(instrument.Outcome) []slog.Attr { return shared })))
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() { assert.NoError(t, c.Ping(t.Context())) })
	}
	running.Wait()
	assert.Empty(t, shared[:2][1].Key)
}

func TestTheOutcomeHasWhatAPolicyNeeds(t *testing.T) {
	t.Parallel()
	result, failed := &mcp.CallToolResult{}, errUnknownMethod
	for _, test := range []struct {
		answer answer
		result any
		err    error
		kind   string
		code   int
		known  bool
	}{
		{always(result, nil), result, nil, instrument.OutcomeOK, 0, false},
		{always(mcp.NewToolResultError("no"), nil), mcp.NewToolResultError("no"), nil, instrument.OutcomeToolError, 0, false},
		{always(nil, failed), nil, failed, instrument.OutcomeError, -32601, true},
	} {
		var got instrument.Outcome
		c := connect(t, newServer(t, everything), test.answer, middleware.Logging(slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)),
			middleware.WithLevel(func(o instrument.Outcome) slog.Level { got = o; return slog.LevelDebug })))
		_ = callTool(t.Context(), c)
		assert.Equal(t, "CallTool", got.Call.Op)
		assert.Equal(t, test.result, got.Result)
		assert.Equal(t, test.err, got.Err)
		assert.Equal(t, test.kind, got.Kind)
		code, known := got.Code()
		assert.Equal(t, test.code, code)
		assert.Equal(t, test.known, known)
	}
}

func TestABrokenCallIsLoggedAndNeverAPanic(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ request, result any }{
		"a nil request for a tool":   {(*mcp.CallToolRequest)(nil), nil},
		"a nil request for a prompt": {(*mcp.GetPromptRequest)(nil), nil},
		"a nil result":               {&mcp.CallToolRequest{}, (*mcp.CallToolResult)(nil)},
	} {
		log, m := &mcptest.Journal{}, mcptest.NewMeter(t)
		c := connect(t, newServer(t, everything), always(test.result, nil),
			func(next mcpclient.Handler) mcpclient.Handler {
				return func(ctx context.Context, call mcpclient.Call) (any, error) {
					if call.Op == "CallTool" {
						call.Request = test.request
					}
					return next(ctx, call)
				}
			},
			middleware.Logging(log.Logger()), middleware.Metrics(m))
		log.Drain()
		var broken *mcpclient.ContractError
		require.ErrorAs(t, callTool(t.Context(), c), &broken, name)
		assert.Equal(t, "result", broken.Part, name)
		assert.Equal(t, "CallTool", log.Only(t)["operation"], name)
	}
}
