package middleware_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpgotracing "github.com/mark3labs/mcp-go/tracing"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// told answers like a transport that tells the exchange everything.
func telling(result any, err error, code int) answer {
	return func(ctx context.Context, _ mcpclient.Call) (any, error) {
		exchange := wire.ExchangeOf(ctx)
		exchange.Sent("7", "session-1")
		exchange.Reached(wire.Peer{Transport: "tcp", Protocol: "http", ProtocolVersion: "1.1", Address: "acme.example", Port: 443})
		if err != nil && code != 0 {
			exchange.Refused(wire.Refusal{Code: code})
		}
		return result, err
	}
}

func TestTracingMakesOneClientSpanForEachRequest(t *testing.T) {
	t.Parallel()
	ok := codes.Unset
	read := func(ctx context.Context, c *mcpclient.Client) error {
		_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "postgres://user:hunter2@acme.example/table"}})
		return err
	}
	tests := map[string]struct {
		answer answer
		call   func(context.Context, *mcpclient.Client) error
		name   string
		status codes.Code
		said   string
		want   []string
	}{
		"a tool": {
			telling(mcp.NewToolResultText("hunter2"), nil, 0), callTool, "tools/call echo", ok, "",
			[]string{"mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool"},
		},
		"a tool's error": {
			telling(mcp.NewToolResultError("hunter2"), nil, 0), callTool, "tools/call echo", codes.Error, "",
			[]string{"mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool", "error.type", "tool_error"},
		},
		"a prompt": {
			telling(&mcp.GetPromptResult{}, nil, 0), getPrompt, "prompts/get greet", ok, "",
			[]string{"mcp.method.name", "prompts/get", "gen_ai.prompt.name", "greet"},
		},
		"a resource, without credentials": {
			telling(&mcp.ReadResourceResult{}, nil, 0), read, "resources/read", ok, "",
			[]string{"mcp.method.name", "resources/read", "mcp.resource.uri", "postgres://acme.example/table"},
		},
		"an error with a code that mcp-go flattens": {
			telling(nil, errors.New("quota of s3cr3t"), -32055), listTools, "tools/list", codes.Error, "quota of ***",
			[]string{"mcp.method.name", "tools/list", "error.type", "-32055", "rpc.response.status_code", "-32055"},
		},
		"an error that mcp-go keeps": {
			telling(nil, errUnknownMethod, -32601), listTools, "tools/list", codes.Error, "Unknown method",
			[]string{"mcp.method.name", "tools/list", "error.type", "-32601", "rpc.response.status_code", "-32601"},
		},
		"an endless complaint": {
			telling(nil, errors.New(strings.Repeat("x", 10_000)), 0), listTools, "tools/list", codes.Error, strings.Repeat("x", 512) + "...",
			[]string{"mcp.method.name", "tools/list", "error.type", "_OTHER"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpans(t)
			mask := middleware.WithMask(func(text string) string { return strings.ReplaceAll(text, "s3cr3t", "***") })
			mine := middleware.WithAttributes(attribute.String("candor.backend.id", "acme"))
			c := connect(t, newServer(t, everything), test.answer, middleware.Tracing(s, mask, mine))
			_ = test.call(t.Context(), c)

			ended := s.recorder.Ended()
			require.Len(t, ended, 2, "the handshake's and this")
			span := ended[1]
			assert.Equal(t, test.name, span.Name())
			assert.Equal(t, trace.SpanKindClient, span.SpanKind())
			assert.Equal(t, sdk.Status{Code: test.status, Description: test.said}, span.Status())
			assert.Empty(t, span.Events(), "no recorded errors")
			set := mcptest.Attributes(append(test.want, "candor.backend.id", "acme", "mcp.protocol.version", "2025-06-18", "network.transport", "tcp",
				"network.protocol.name", "http", "network.protocol.version", "1.1", "server.address", "acme.example", "jsonrpc.request.id", "7", "mcp.session.id", "session-1")...)
			want := attribute.NewSet(append(set.ToSlice(), attribute.Int("server.port", 443))...)
			assert.Equal(t, want, attribute.NewSet(span.Attributes()...))
		})
	}
}

// calls are the methods whose request structs have a _meta.
var carrying = map[string]func(context.Context, *mcpclient.Client, *mcp.Meta) error{
	"tools/call": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Meta: meta}})
		return err
	},
	"prompts/get": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Meta: meta}})
		return err
	},
	"resources/read": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{Meta: meta}})
		return err
	},
	"tools/list": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		var request mcp.ListToolsRequest
		request.Params.Meta = meta
		_, err := c.ListToolsByPage(ctx, request)
		return err
	},
	"prompts/list": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		var request mcp.ListPromptsRequest
		request.Params.Meta = meta
		_, err := c.ListPromptsByPage(ctx, request)
		return err
	},
	"resources/list": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		var request mcp.ListResourcesRequest
		request.Params.Meta = meta
		_, err := c.ListResourcesByPage(ctx, request)
		return err
	},
	"resources/templates/list": func(ctx context.Context, c *mcpclient.Client, meta *mcp.Meta) error {
		var request mcp.ListResourceTemplatesRequest
		request.Params.Meta = meta
		_, err := c.ListResourceTemplatesByPage(ctx, request)
		return err
	},
}

// metaOf is the _meta of a request as the server would get it.
func metaOf(t *testing.T, request any) map[string]any {
	t.Helper()
	switch r := request.(type) {
	case *mcp.CallToolRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.GetPromptRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.ReadResourceRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.ListToolsRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.ListPromptsRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.ListResourcesRequest:
		return r.Params.Meta.AdditionalFields
	case *mcp.ListResourceTemplatesRequest:
		return r.Params.Meta.AdditionalFields
	}
	require.Fail(t, "a request without _meta", "%T", request)
	return nil
}

var errSeen = errors.New("seen")

var promptsRequest mcp.ListPromptsRequest

func TestTheContextTravelsInACopyOfTheRequest(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("acme=1")
	require.NoError(t, err)
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true})
	member, err := baggage.NewMember("user", "42")
	require.NoError(t, err)
	bag, err := baggage.New(member)
	require.NoError(t, err)
	for method, call := range carrying {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := newSpans(t)
			var sent map[string]any
			seeing := answer(func(ctx context.Context, call mcpclient.Call) (any, error) {
				sent = metaOf(t, call.Request)
				assert.Nil(t, wire.ExchangeOf(ctx).Meta(), "it is in the request already")
				return nil, errSeen
			})
			c := connect(t, newServer(t, everything), seeing, middleware.Tracing(s))
			meta := &mcp.Meta{ProgressToken: "p", AdditionalFields: map[string]any{"traceparent": "the caller's", "k": "v"}}
			ctx := baggage.ContextWithBaggage(trace.ContextWithSpanContext(t.Context(), caller), bag)
			require.ErrorIs(t, call(ctx, c, meta), errSeen)

			span := s.recorder.Ended()[1].SpanContext()
			assert.Equal(t, map[string]any{
				"k": "v", "baggage": "user=42", "tracestate": "acme=1",
				"traceparent": "00-" + caller.TraceID().String() + "-" + span.SpanID().String() + "-01",
			}, sent)
			assert.Equal(t, &mcp.Meta{ProgressToken: "p", AdditionalFields: map[string]any{"traceparent": "the caller's", "k": "v"}}, meta, "the caller's")
			require.ErrorIs(t, call(ctx, c, nil), errSeen, "without a _meta of the caller's")
			assert.Contains(t, sent, "traceparent")
		})
	}
}

// TestARequestWithoutMetaLeavesItToTheWire is about the structs of mcp-go that
// have no _meta that is sent.
func TestARequestWithoutMetaLeavesItToTheWire(t *testing.T) {
	t.Parallel()
	s := newSpans(t)
	var carried map[string]string
	seeing := answer(func(ctx context.Context, _ mcpclient.Call) (any, error) {
		carried = wire.ExchangeOf(ctx).Meta()
		return nil, errSeen
	})
	c := connect(t, newServer(t, everything), seeing, middleware.Tracing(s), middleware.Metrics(mcptest.NewMeter(t)))
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"ping":                func() error { return c.Ping(ctx) },
		"logging/setLevel":    func() error { return c.SetLevel(ctx, mcp.SetLevelRequest{}) },
		"resources/subscribe": func() error { return c.Subscribe(ctx, mcp.SubscribeRequest{}) },
		"completion/complete": func() error { _, err := c.Complete(ctx, mcp.CompleteRequest{}); return err },
	} {
		carried = nil
		require.ErrorIs(t, call(), errSeen, name)
		ended := s.recorder.Ended()
		assert.Equal(t, name, ended[len(ended)-1].Name())
		assert.Contains(t, carried["traceparent"], ended[len(ended)-1].SpanContext().SpanID().String(), name)
	}
}

func TestWithPropagatorReplacesTheFormat(t *testing.T) {
	t.Parallel()
	var sent map[string]any
	seeing := answer(func(_ context.Context, call mcpclient.Call) (any, error) {
		request := call.Request.(*mcp.CallToolRequest)
		if sent = nil; request.Params.Meta != nil {
			sent = request.Params.Meta.AdditionalFields
		}
		return nil, errSeen
	})
	none := middleware.WithPropagator(propagation.NewCompositeTextMapPropagator())
	c := connect(t, newServer(t, everything), seeing, middleware.Tracing(newSpans(t), none, middleware.WithPropagator(nil)))
	require.ErrorIs(t, callTool(t.Context(), c), errSeen)
	assert.Empty(t, sent)
}

func TestASampledOutSpanStillSendsItsContext(t *testing.T) {
	t.Parallel()
	var sent string
	seeing := answer(func(_ context.Context, call mcpclient.Call) (any, error) {
		sent, _ = metaOf(t, call.Request)["traceparent"].(string)
		return nil, errSeen
	})
	s := newSpans(t, sdk.WithSampler(sdk.NeverSample()))
	c := connect(t, newServer(t, everything), seeing, middleware.Tracing(s))
	require.ErrorIs(t, callTool(t.Context(), c), errSeen)
	assert.True(t, strings.HasSuffix(sent, "-00"), sent)
	assert.Empty(t, s.recorder.Ended())
}

// recording is a tracer as mcp-go has them.
type recording struct{ started []string }

func (r *recording) Start(ctx context.Context, name string, _ mcpgotracing.SpanKind, _ ...mcpgotracing.Attribute) (context.Context, mcpgotracing.Span) {
	r.started = append(r.started, name)
	return ctx, mcpgotracing.SpanFromContext(ctx)
}

func TestThereIsNoSpanTwiceWhereMCPGoHasATracerOfItsOwn(t *testing.T) {
	t.Parallel()
	own := &recording{}
	for name, test := range map[string]struct {
		options []client.ClientOption
		spans   []string
	}{
		"none":        {nil, []string{"server/discover", "tools/list"}},
		"a no-op one": {[]client.ClientOption{client.WithTracer(nil)}, []string{"server/discover", "tools/list"}},
		"one":         {[]client.ClientOption{client.WithTracer(own)}, nil},
	} {
		s := newSpans(t)
		inner := overInProcess(t, test.options...)
		c := mcpclient.Wrap(inner, middleware.Tracing(s))
		_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err, name)
		var sent *mcp.Meta
		c = mcpclient.Wrap(inner, middleware.Tracing(s), mcpclient.For(func(ctx context.Context, request *mcp.ListToolsRequest, next mcpclient.Next[mcp.ListToolsRequest, mcp.ListToolsResult]) (*mcp.ListToolsResult, error) {
			sent = request.Params.Meta
			return next(ctx, request)
		}))
		ctx, outer := newSpans(t).Tracer("caller").Start(t.Context(), "caller")
		require.NoError(t, listTools(ctx, c), name)
		outer.End()
		assert.Equal(t, test.spans, s.names(), name)
		require.NotNil(t, sent, name)
		assert.Contains(t, sent.AdditionalFields["traceparent"], outer.SpanContext().TraceID().String(), "the trace goes on either way: %s", name)
	}
	assert.Equal(t, []string{"mcp.server/discover", "mcp.tools/list"}, own.started)
}

func TestTracingOfAClientThatIsNotMCPGos(t *testing.T) {
	t.Parallel()
	s := newSpans(t)
	c := connect(t, newServer(t, everything), always(nil, nil), middleware.Tracing(s))
	require.NoError(t, c.Ping(t.Context()))
	assert.Equal(t, []string{"initialize", "ping"}, s.names())
}

// TestANilTracerProviderMeansTheGlobalOne changes the global provider and
// therefore does not run beside other tests. It is set after the client was
// made.
func TestANilTracerProviderMeansTheGlobalOne(t *testing.T) {
	early := otel.GetTracerProvider()
	clients := map[string]*mcpclient.Client{}
	for name, chain := range map[string]mcpclient.Middleware{
		"nil":             middleware.Tracing(nil),
		"Default":         middleware.Default(nil, nil),
		"the early one":   middleware.Tracing(early),
		"explicitly none": middleware.Tracing(noop.NewTracerProvider()),
	} {
		clients[name] = connect(t, newServer(t, everything), always(nil, nil), chain)
		require.NoError(t, clients[name].Ping(t.Context()))
	}
	s := newSpans(t)
	otel.SetTracerProvider(s)
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	for name, c := range clients {
		before := len(s.names())
		require.NoError(t, c.Ping(t.Context()))
		want := 1
		if name == "explicitly none" {
			want = 0
		}
		assert.Len(t, s.names(), before+want, name)
	}
}

func TestAMeasurementNamesItsSpan(t *testing.T) {
	t.Parallel()
	s, m := newSpans(t), mcptest.NewMeter(t)
	c := connect(t, newServer(t, everything), always(&mcp.CallToolResult{}, nil), middleware.Default(nil, m, middleware.WithTracerProvider(s), middleware.WithTracerProvider(nil)))
	require.NoError(t, callTool(t.Context(), c))
	span := s.recorder.Ended()[1].SpanContext()
	var named []string
	for _, p := range m.HistogramOf(t, "mcp.client.operation.duration") {
		for _, e := range p.Exemplars {
			named = append(named, string(e.SpanID))
		}
	}
	id := span.SpanID()
	assert.Contains(t, named, string(id[:]))
	assert.IsType(t, metricdata.Histogram[float64]{}, m.Measured(t)["mcp.client.operation.duration"].Data)
}

func TestHostileNamesMakeFewNamesOfSpans(t *testing.T) {
	t.Parallel()
	s := newSpans(t)
	c := connect(t, newServer(t, everything), flattened(), middleware.Tracing(s, middleware.WithSeriesLimit(instrument.NewSeriesLimit(10))))
	hostile(t, c)
	names := map[string]bool{}
	for _, name := range s.names() {
		names[name] = true
	}
	assert.Len(t, names, 1+10, "the handshake's is one of ten")
	assert.True(t, names["tools/call _OTHER"])
}

func TestTheLogNamesTheSpanOfItsCaller(t *testing.T) {
	t.Parallel()
	log := &mcptest.Journal{}
	c := connect(t, newServer(t, everything), always(nil, errUnknownMethod), middleware.Default(log.Logger(), nil, middleware.WithTracerProvider(newSpans(t))))
	log.Drain()
	ctx, span := newSpans(t).Tracer("caller").Start(t.Context(), "caller")
	defer span.End()
	_, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	require.NoError(t, err)
	records := log.Take()
	require.Len(t, records, 2, "the contradiction and the call")
	for _, r := range records {
		assert.Equal(t, span.SpanContext().TraceID().String(), r["trace_id"])
		assert.Equal(t, span.SpanContext().SpanID().String(), r["span_id"])
	}
}

func TestACallKnowsTheClientItsChainEndsIn(t *testing.T) {
	t.Parallel()
	assert.Nil(t, mcpclient.Call{}.Inner())
}
