package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func operations(points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return mcptest.Durations("mcp.client.operation.duration", "The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.", points...)
}

func sessions(points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return mcptest.Durations("mcp.client.session.duration", "The duration of the MCP session as observed on the MCP client.", points...)
}

func contradictions(points ...metricdata.DataPoint[int64]) metricdata.Metrics {
	return metricdata.Metrics{
		Name: "candor.contradictions", Description: "Answers that contradict what the server advertised in its handshake.", Unit: "{contradiction}",
		Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: points},
	}
}

func malformedLists(points ...metricdata.DataPoint[int64]) metricdata.Metrics {
	m := contradictions(points...)
	m.Name, m.Description, m.Unit = "candor.malformed_lists", "Answers to a list method without a list in them.", "{list}"
	return m
}

// greeted is the measurement of the handshake that each test begins with.
func greeted() metricdata.HistogramDataPoint[float64] {
	return mcptest.Point(mcptest.Attributes("mcp.method.name", "initialize", "mcp.protocol.version", "2025-06-18"), 0)
}

func readResource(ctx context.Context, c *mcpclient.Client) error {
	_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "file:///home/hunter2"}})
	return err
}

func TestMetricsMeasureEachRequest(t *testing.T) {
	t.Parallel()
	jsonrpc := func(code int) error { return (&mcp.JSONRPCErrorDetails{Code: code, Message: "hunter2"}).AsError() }
	tests := map[string]struct {
		result any
		err    error
		call   func(context.Context, *mcpclient.Client) error
		want   []string
	}{
		"a success": {
			&mcp.ListToolsResult{}, nil, listTools,
			[]string{"mcp.method.name", "tools/list"},
		},
		"a tool's success": {
			mcp.NewToolResultText("hunter2"), nil, callTool,
			[]string{"mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool"},
		},
		"a tool's result with isError": {
			mcp.NewToolResultError("hunter2"), nil, callTool,
			[]string{"mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool", "error.type", "tool_error"},
		},
		"a prompt": {
			&mcp.GetPromptResult{}, nil, getPrompt,
			[]string{"mcp.method.name", "prompts/get", "gen_ai.prompt.name", "greet"},
		},
		"a resource, without its URI": {
			&mcp.ReadResourceResult{}, nil, readResource,
			[]string{"mcp.method.name", "resources/read"},
		},
		"a method without a result": {
			nil, nil, func(ctx context.Context, c *mcpclient.Client) error { return c.Ping(ctx) },
			[]string{"mcp.method.name", "ping"},
		},
		"a JSON-RPC error with a code that mcp-go keeps": {
			nil, jsonrpc(-32602), callTool,
			[]string{"mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool", "error.type", "-32602", "rpc.response.status_code", "-32602"},
		},
		"a JSON-RPC error with a code that mcp-go does not keep": {
			nil, jsonrpc(-32000), readResource,
			[]string{"mcp.method.name", "resources/read", "error.type", "_OTHER"},
		},
		"a client that was closed during the call is not a cancellation": {
			nil, transport.NewError(context.Canceled), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "transport"},
		},
		"a transport error": {
			nil, transport.NewError(errors.New("connection refused by 10.0.0.1")), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "transport"},
		},
		"a session that the server ended": {
			nil, transport.NewError(transport.ErrSessionTerminated), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "session_terminated"},
		},
		"a server that wants to know who it is": {
			nil, transport.NewError(transport.ErrAuthorizationRequired), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "unauthorized"},
		},
		"a server that wants a login": {
			nil, transport.NewError(transport.ErrOAuthAuthorizationRequired), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "unauthorized"},
		},
		"an HTTP failure": {
			nil, transport.NewError(&wire.StatusError{StatusCode: 503}), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "503"},
		},
		"an HTTP failure that has no name": {
			nil, transport.NewError(&wire.StatusError{StatusCode: 599}), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "transport"},
		},
		"a list that is none": {
			nil, middleware.ErrMalformedList, listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "malformed_list"},
		},
		"a time-out": {
			nil, transport.NewError(context.DeadlineExceeded), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "timeout"},
		},
		"anything else": {
			nil, errors.New("hunter2"), listTools,
			[]string{"mcp.method.name", "tools/list", "error.type", "_OTHER"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := mcptest.NewMeter(t)
				c := connect(t, newServer(t, everything), tookAWhile(test.result, test.err), middleware.Metrics(m))

				assert.ErrorIs(t, test.call(t.Context(), c), test.err)

				want := mcptest.Attributes(append(test.want, "mcp.protocol.version", "2025-06-18")...)
				m.AssertMeasured(t, operations(greeted(), mcptest.Point(want, 0.025)))
			})
		})
	}
}

func TestEveryCodeThatMCPGoKeepsIsAnErrorType(t *testing.T) {
	t.Parallel()
	for _, code := range []int{-32700, -32600, -32601, -32602, -32603, -32800, -32002, -32020, -32021, -32022, -32042} {
		m := mcptest.NewMeter(t)
		failed := (&mcp.JSONRPCErrorDetails{Code: code, Message: "no"}).AsError()
		c := connect(t, newServer(t, everything), always(nil, fmt.Errorf("wrapped: %w", failed)), middleware.Metrics(m))
		require.Error(t, c.Ping(t.Context()))

		points := m.Measured(t)["mcp.client.operation.duration"].Data.(metricdata.Histogram[float64]).DataPoints
		want := mcptest.Attributes("mcp.method.name", "ping", "mcp.protocol.version", "2025-06-18",
			"error.type", fmt.Sprint(code), "rpc.response.status_code", fmt.Sprint(code))
		sets := make([]attribute.Set, 0, len(points))
		for _, p := range points {
			sets = append(sets, p.Attributes)
		}
		assert.Contains(t, sets, want, "%d", code)
	}
}

func TestMetricsTellACancellationFromATimeOut(t *testing.T) {
	t.Parallel()
	waiting := answer(func(ctx context.Context, _ mcpclient.Call) (any, error) {
		<-ctx.Done()
		return nil, transport.NewError(ctx.Err())
	})
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		c := connect(t, newServer(t, everything), waiting, middleware.Metrics(m))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, listTools(ctx, c), context.Canceled)
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		require.ErrorIs(t, listTools(ctx, c), context.DeadlineExceeded)

		failed := func(errorType string) attribute.Set {
			return mcptest.Attributes("mcp.method.name", "tools/list", "mcp.protocol.version", "2025-06-18", "error.type", errorType)
		}
		m.AssertMeasured(t, operations(greeted(), mcptest.Point(failed("cancelled"), 1), mcptest.Point(failed("timeout"), 2)))
	})
}

func TestASessionIsMeasuredFromItsHandshakeToItsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		closeErr error
		want     []string
	}{
		"closed":                  {nil, []string{"mcp.protocol.version", "2025-06-18"}},
		"closed with a complaint": {errors.New("no"), []string{"mcp.protocol.version", "2025-06-18", "error.type", "_OTHER"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, s := mcptest.NewMeter(t), newServer(t, everything)
				s.closeErr = test.closeErr
				c := connect(t, s, nil, middleware.Metrics(m))
				<-time.After(90 * time.Second)
				for range 2 { // the second time there is no session left
					assert.Equal(t, test.closeErr, c.Close())
				}
				m.AssertMeasured(t, operations(greeted()), sessions(mcptest.Point(mcptest.Attributes(test.want...), 90)))
			})
		})
	}
	t.Run("without a handshake there is no session", func(t *testing.T) {
		t.Parallel()
		m := mcptest.NewMeter(t)
		c := mcpclient.Wrap(&server{}, middleware.Metrics(m))
		_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.Error(t, err)
		require.NoError(t, c.Close())
		assert.NotContains(t, m.Measured(t), "mcp.client.session.duration")
	})
}

func TestAForgivenContradictionIsMeasuredAsTheFailureThatItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		c := connect(t, newServer(t, everything), tookAWhile(nil, errUnknownMethod), middleware.Default(nil, m))

		for range 2 {
			_, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
			require.NoError(t, err)
		}

		failed := mcptest.Attributes("mcp.method.name", "prompts/list", "mcp.protocol.version", "2025-06-18", "error.type", "-32601", "rpc.response.status_code", "-32601")
		counted := mcptest.Attributes("mcp.method.name", "prompts/list", "candor.capability", "prompts")
		m.AssertMeasured(t,
			operations(greeted(), mcptest.Point(failed, 0.025, 0.025)),
			contradictions(metricdata.DataPoint[int64]{Attributes: counted, Value: 2}))
	})
}

func TestWithAttributesAddsToEverythingThatIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		mine := []attribute.KeyValue{attribute.String("server.address", "acme.example"), attribute.Int("server.port", 443)}
		with := func(pairs ...string) attribute.Set {
			set := mcptest.Attributes(pairs...)
			return attribute.NewSet(append(set.ToSlice(), mine...)...)
		}
		c := connect(t, newServer(t, everything), tookAWhile(&mcp.ListPromptsResult{}, nil),
			middleware.Default(nil, m, middleware.WithAttributes(mine[0]), middleware.WithAttributes(mine[1])))
		_, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
		require.NoError(t, err)
		require.NoError(t, c.Close())

		version := []string{"mcp.protocol.version", "2025-06-18"}
		m.AssertMeasured(t,
			operations(
				mcptest.Point(with("mcp.method.name", "initialize", version[0], version[1]), 0),
				mcptest.Point(with("mcp.method.name", "prompts/list", version[0], version[1]), 0.025)),
			sessions(mcptest.Point(with(version...), 0.025)),
			malformedLists(metricdata.DataPoint[int64]{
				Attributes: with("mcp.method.name", "prompts/list", "candor.capability", "prompts"), Value: 1,
			}))
	})
}

func TestTheProtocolVersionIsLeftOutWhileItIsNotKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		c := mcpclient.Wrap(&server{}, middleware.Metrics(m), always(nil, nil).wire)
		require.NoError(t, c.Ping(t.Context()))
		m.AssertMeasured(t, operations(mcptest.Point(mcptest.Attributes("mcp.method.name", "ping"), 0)))
	})
}

// TestANilProviderMeansTheGlobalOne changes the global provider and therefore
// does not run beside other tests.
func TestANilProviderMeansTheGlobalOne(t *testing.T) {
	m := mcptest.NewMeter(t)
	otel.SetMeterProvider(m)
	t.Cleanup(func() { otel.SetMeterProvider(noop.NewMeterProvider()) })
	c := connect(t, newServer(t, everything), always(nil, errUnknownMethod), middleware.Tolerance(nil, nil), middleware.Metrics(nil))

	_, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})

	require.NoError(t, err)
	assert.Contains(t, m.Measured(t), "mcp.client.operation.duration")
	assert.Contains(t, m.Measured(t), "candor.contradictions")
}

// refusing is a provider whose instruments come with an error. They are off,
// and nobody should make a measurement for them.
type (
	refusing      struct{ noop.MeterProvider }
	refusingMeter struct{ noop.Meter }
	off           struct{ noop.Float64Histogram }
)

func (off) Record(context.Context, float64, ...metric.RecordOption) { panic("this instrument is off") }

var errRefused = errors.New("refused")

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return off{}, errRefused
}

func (refusingMeter) Int64UpDownCounter(string, ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return noop.Int64UpDownCounter{}, errRefused
}

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return noop.Int64Counter{}, errRefused
}

// TestAnInstrumentsErrorGoesWhereOpenTelemetrysErrorsGo changes the global
// error handler and therefore does not run beside other tests.
func TestAnInstrumentsErrorGoesWhereOpenTelemetrysErrorsGo(t *testing.T) {
	var handled []error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { handled = append(handled, err) }))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })

	c := connect(t, newServer(t, everything), always(&mcp.ListToolsResult{Tools: []mcp.Tool{}}, nil), middleware.Default(nil, refusing{}))

	require.NoError(t, listTools(t.Context(), c))
	assert.Equal(t, []error{errRefused, errRefused, errRefused, errRefused}, handled, "two counters and two histograms")
}

// hostile are 10,000 calls whose tools the caller made up and whose codes the
// server did.
func hostile(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	for i := range 10_000 {
		_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: fmt.Sprint("tool-", i)}})
		require.Error(t, err)
	}
}

// flattened answers with another code each time, as mcp-go has them: as text,
// and with the code told to the exchange.
func flattened() answer {
	var code int
	return func(ctx context.Context, _ mcpclient.Call) (any, error) {
		code++
		wire.ExchangeOf(ctx).Sent("1", "")
		wire.ExchangeOf(ctx).Refused(wire.Refusal{Code: code})
		return nil, errors.New("no")
	}
}

func TestHostileNamesMakeABoundedNumberOfSeries(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	limit := instrument.NewSeriesLimit(100)
	for range 3 { // sessions that share the limit
		c := connect(t, newServer(t, everything), flattened(), middleware.Metrics(m, middleware.WithSeriesLimit(limit)))
		hostile(t, c)
	}
	points := m.HistogramOf(t, "mcp.client.operation.duration")
	assert.Len(t, points, 100+1, "the first hundred, the handshake among them, and all others")
	var count uint64
	for _, p := range points {
		count += p.Count
		if tool, _ := p.Attributes.Value("gen_ai.tool.name"); tool.AsString() == "_OTHER" {
			code, _ := p.Attributes.Value("rpc.response.status_code")
			kind, _ := p.Attributes.Value("error.type")
			assert.Equal(t, []string{"_OTHER", "_OTHER"}, []string{code.AsString(), kind.AsString()})
			assert.Equal(t, uint64(30_000-3*99), p.Count)
		}
	}
	assert.Equal(t, uint64(30_003), count, "every call is measured")
}

func TestTheLimitCountsForEachBackendByItself(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	limit := middleware.WithSeriesLimit(instrument.NewSeriesLimit(10))
	for _, id := range []string{"bad", "good"} {
		id := middleware.WithAttributes(attribute.String("candor.backend.id", id))
		hostile(t, connect(t, newServer(t, everything), flattened(), middleware.Metrics(m, limit, id)))
	}
	assert.Len(t, m.HistogramOf(t, "mcp.client.operation.duration"), 2*11)
}

func TestWithoutALimitOfOnesOwnAThousandSeriesAreToldApart(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	hostile(t, connect(t, newServer(t, everything), flattened(), middleware.Metrics(m, middleware.WithSeriesLimit(nil), middleware.WithSeriesLimit(instrument.NewSeriesLimit(0)))))
	assert.Len(t, m.HistogramOf(t, "mcp.client.operation.duration"), instrument.DefaultSeriesLimit+1)
}

// strange is a middleware that makes another method and a very long name.
func strange(next mcpclient.Handler) mcpclient.Handler {
	return func(ctx context.Context, call mcpclient.Call) (any, error) {
		if call.Method == mcp.MethodToolsCall {
			call.Method = "vendor/secret"
			call.Request = &mcp.CallToolRequest{Params: mcp.CallToolParams{Name: strings.Repeat("x", 129)}}
		}
		return next(ctx, call)
	}
}

func TestAMethodOrNameThatTheProtocolDoesNotKnowIsOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		c := connect(t, newServer(t, everything), tookAWhile(&mcp.CallToolResult{}, nil), strange, middleware.Metrics(m))
		require.NoError(t, callTool(t.Context(), c))
		m.AssertMeasured(t, operations(greeted(),
			mcptest.Point(mcptest.Attributes("mcp.method.name", "_OTHER", "gen_ai.tool.name", "_OTHER", "mcp.protocol.version", "2025-06-18"), 0.025)))
	})
}

func TestRequestsInFlightAreCountedUntilTheyEnd(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	mine := middleware.WithAttributes(attribute.String("candor.backend.id", "acme"))
	inFlight := func() int64 {
		points := m.Measured(t)["candor.client.active_requests"].Data.(metricdata.Sum[int64]).DataPoints
		require.Len(t, points, 1)
		assert.Equal(t, mcptest.Attributes("candor.backend.id", "acme"), points[0].Attributes)
		return points[0].Value
	}
	var during int64
	looking := answer(func(context.Context, mcpclient.Call) (any, error) {
		during = inFlight()
		return &mcp.CallToolResult{}, nil
	})
	c := connect(t, newServer(t, everything), looking, middleware.Metrics(m, mine))
	require.NoError(t, callTool(t.Context(), c))
	assert.Equal(t, int64(1), during)
	assert.Zero(t, inFlight())

	panicking := answer(func(context.Context, mcpclient.Call) (any, error) { panic("no") })
	c = connect(t, newServer(t, everything), panicking, middleware.Metrics(m, mine))
	assert.Panics(t, func() { _ = callTool(t.Context(), c) })
	assert.Zero(t, inFlight())
}

// TestWhatNobodySendsIsNotMeasured is about protocol 2026-07-28, on which
// mcp-go answers these itself.
func TestWhatNobodySendsIsNotMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s := mcptest.NewMeter(t), newServer(t, everything)
		s.handshake.ProtocolVersion = "2026-07-28"
		spans := newSpans(t)
		c := connect(t, s, always(nil, nil), middleware.Tracing(spans), middleware.Metrics(m))
		require.NoError(t, c.Ping(t.Context()))
		require.NoError(t, c.SetLevel(t.Context(), mcp.SetLevelRequest{}))
		require.NoError(t, c.Subscribe(t.Context(), mcp.SubscribeRequest{}))
		require.NoError(t, c.Unsubscribe(t.Context(), mcp.UnsubscribeRequest{}))
		handshake := mcptest.Attributes("mcp.method.name", "server/discover", "mcp.protocol.version", "2026-07-28")
		m.AssertMeasured(t, operations(mcptest.Point(handshake, 0)))
		assert.Equal(t, []string{"server/discover"}, spans.names())
	})
}

func TestASessionThatWasEndedSaysByWhat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"by the server":         {transport.NewError(transport.ErrSessionTerminated), "session_terminated"},
		"with its process":      {transport.NewError(transport.ErrTransportClosed), "transport"},
		"by nobody but itself":  {errors.New("no"), ""},
		"by nobody, all's well": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mcptest.NewMeter(t)
			c := connect(t, newServer(t, everything), always(nil, test.err), middleware.Metrics(m))
			assert.ErrorIs(t, c.Ping(t.Context()), test.err)
			require.NoError(t, c.Close())
			points := m.HistogramOf(t, "mcp.client.session.duration")
			require.Len(t, points, 1)
			got, _ := points[0].Attributes.Value("error.type")
			assert.Equal(t, test.want, got.AsString())
		})
	}
}

func TestAnotherHandshakeEndsTheSessionBeforeIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		c := connect(t, newServer(t, everything), nil, middleware.Metrics(m))
		<-time.After(20 * time.Second)
		_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		<-time.After(40 * time.Second)
		require.NoError(t, c.Close())
		version := mcptest.Attributes("mcp.protocol.version", "2025-06-18")
		m.AssertMeasured(t, operations(mcptest.Point(mcptest.Attributes("mcp.method.name", "initialize", "mcp.protocol.version", "2025-06-18"), 0, 0)), sessions(mcptest.Point(version, 20, 40)))
	})
}

// TestWhereARequestWentIsKnownAlsoOfOneWithoutAnAnswer has a server that hangs
// up on its second request.
func TestWhereARequestWentIsKnownAlsoOfOneWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		peer := wire.Peer{Transport: "tcp", Protocol: "http", Address: "acme.example", Port: 443}
		answers := answer(func(ctx context.Context, call mcpclient.Call) (any, error) {
			exchange := wire.ExchangeOf(ctx)
			exchange.Reached(peer)
			if call.Method == mcp.MethodPing {
				return nil, transport.NewError(errors.New("EOF"))
			}
			answered := peer
			answered.ProtocolVersion = "2"
			exchange.Reached(answered)
			return &mcp.CallToolResult{}, nil
		})
		c := connect(t, newServer(t, everything), answers, middleware.Metrics(m, middleware.WithAttributes(attribute.Int("server.port", 8443))))
		require.NoError(t, callTool(t.Context(), c))
		require.Error(t, c.Ping(t.Context()))
		with := func(pairs ...string) attribute.Set {
			set := mcptest.Attributes(append(pairs, "mcp.protocol.version", "2025-06-18", "network.transport", "tcp", "network.protocol.name", "http", "network.protocol.version", "2", "server.address", "acme.example")...)
			return attribute.NewSet(append(set.ToSlice(), attribute.Int("server.port", 8443))...)
		}
		set := greeted().Attributes
		handshake := attribute.NewSet(append(set.ToSlice(), attribute.Int("server.port", 8443))...)
		m.AssertMeasured(t, operations(mcptest.Point(handshake, 0),
			mcptest.Point(with("mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool"), 0),
			mcptest.Point(with("mcp.method.name", "ping", "error.type", "transport"), 0)))
	})
}

// TestManyGoroutinesMayMeasureOneClient is about the race detector; the count
// shows that no measurement got lost.
func TestManyGoroutinesMayMeasureOneClient(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	c := connect(t, newServer(t, everything), always(&mcp.CallToolResult{}, nil), middleware.Metrics(m))
	var running sync.WaitGroup
	for i := range 64 {
		running.Go(func() {
			for range 4 {
				request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: fmt.Sprint("tool-", i%8)}}
				_, err := c.CallTool(t.Context(), request)
				assert.NoError(t, err)
			}
			_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
			assert.NoError(t, err)
		})
	}
	running.Wait()
	counts := map[string]uint64{}
	for _, p := range m.Measured(t)["mcp.client.operation.duration"].Data.(metricdata.Histogram[float64]).DataPoints {
		name, _ := p.Attributes.Value("mcp.method.name")
		counts[name.AsString()] += p.Count
	}
	assert.Equal(t, map[string]uint64{"tools/call": 256, "initialize": 65}, counts)
}
