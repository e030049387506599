package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	opening "github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

func received(points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return mcptest.Durations("mcp.server.operation.duration", "MCP request or notification duration as observed on the receiver from the time it was received until the result or ack is sent.", points...)
}

func served(points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return mcptest.Durations("mcp.server.session.duration", "The duration of the MCP session as observed on the MCP server.", points...)
}

// refused is an error with a code of its own, as mcp-go's hooks get them.
type refused struct{ code int }

func (r refused) Error() string { return "refused" }

func (r refused) ToJSONRPCError() mcp.JSONRPCError {
	return mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: r.code}}
}

var caller = wire.Peer{Transport: "tcp", Protocol: "http", ProtocolVersion: "1.1", Address: "192.0.2.7", Port: 54321}

func incoming(name string) instrument.Incoming {
	return instrument.Incoming{
		Method: mcp.MethodToolsCall, Request: &mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name}},
		RequestID: 7, SessionID: "session-1", ProtocolVersion: legacyVersion, Caller: caller,
	}
}

const legacyVersion = "2025-06-18"

func TestAServerRecordsEachRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		result any
		err    error
		status sdk.Status
		want   []string
	}{
		"a success":                {mcp.NewToolResultText("hunter2"), nil, sdk.Status{}, nil},
		"a tool's error":           {mcp.NewToolResultError("hunter2"), nil, sdk.Status{Code: codes.Error}, []string{"error.type", "tool_error"}},
		"a code that mcp-go keeps": {nil, fmt.Errorf("x: %w", mcp.ErrInvalidParams), sdk.Status{Code: codes.Error, Description: "x: invalid params"}, []string{"error.type", "-32602", "rpc.response.status_code", "-32602"}},
		"a code of mcp-go's hooks": {nil, refused{-32603}, sdk.Status{Code: codes.Error, Description: "refused"}, []string{"error.type", "-32603", "rpc.response.status_code", "-32603"}},
		"a typed error of mcp-go":  {nil, mcp.URLElicitationRequiredError{}, sdk.Status{Code: codes.Error, Description: "URL elicitation required: 0 elicitation(s) needed"}, []string{"error.type", "-32042", "rpc.response.status_code", "-32042"}},
		"a time-out":               {nil, context.DeadlineExceeded, sdk.Status{Code: codes.Error, Description: "context deadline exceeded"}, []string{"error.type", "timeout"}},
		"anything else":            {nil, errors.New("no"), sdk.Status{Code: codes.Error, Description: "no"}, []string{"error.type", "_OTHER"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, s := mcptest.NewMeter(t), newSpans(t)
				server := instrument.NewServer(instrument.Config{MeterProvider: m, TracerProvider: s, Attributes: []attribute.KeyValue{attribute.String("mine", "yes")}})
				_, end := server.Begin(t.Context(), incoming("echo"))
				<-time.After(25 * time.Millisecond)
				end(test.result, test.err)

				about := append([]string{
					"mine", "yes", "mcp.method.name", "tools/call", "gen_ai.tool.name", "echo", "gen_ai.operation.name", "execute_tool",
					"mcp.protocol.version", legacyVersion, "network.transport", "tcp", "network.protocol.name", "http", "network.protocol.version", "1.1",
				}, test.want...)
				m.AssertMeasured(t, received(mcptest.Point(mcptest.Attributes(about...), 0.025)))
				require.Len(t, s.recorder.Ended(), 1)
				span := s.recorder.Ended()[0]
				assert.Equal(t, "tools/call echo", span.Name())
				assert.Equal(t, trace.SpanKindServer, span.SpanKind())
				assert.Equal(t, test.status, span.Status())
				set := mcptest.Attributes(append(about, "jsonrpc.request.id", "7", "mcp.session.id", "session-1", "client.address", "192.0.2.7")...)
				assert.Equal(t, attribute.NewSet(append(set.ToSlice(), attribute.Int("client.port", 54321))...), attribute.NewSet(span.Attributes()...))
			})
		})
	}
}

func TestAServerCountsSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mcptest.NewMeter(t)
		server := instrument.NewServer(instrument.Config{MeterProvider: m})
		end := server.Session(t.Context(), legacyVersion, caller)
		fail := server.Session(t.Context(), legacyVersion, caller)
		<-time.After(time.Minute)
		end(nil)
		fail(context.DeadlineExceeded)
		about := []string{"mcp.protocol.version", legacyVersion, "network.transport", "tcp", "network.protocol.name", "http", "network.protocol.version", "1.1"}
		m.AssertMeasured(t, served(mcptest.Point(mcptest.Attributes(about...), 60), mcptest.Point(mcptest.Attributes(append(about, "error.type", "timeout")...), 60)))
	})
}

func TestHostileMethodsAndNamesAtAServerMakeABoundedNumberOfSeries(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	server := instrument.NewServer(instrument.Config{MeterProvider: m, TracerProvider: noop.NewTracerProvider(), SeriesLimit: instrument.NewSeriesLimit(10)})
	for i := range 10_000 {
		in := incoming(fmt.Sprint("tool-", i))
		if i%2 == 0 {
			in.Method = mcp.MCPMethod(fmt.Sprint("method-", i))
		}
		_, end := server.Begin(t.Context(), in)
		end(nil, refused{i})
	}
	assert.LessOrEqual(t, len(m.HistogramOf(t, "mcp.server.operation.duration")), 12)
}

// TestTheServersSpanContinuesTheClients goes through a real server: what the
// client sends in _meta is the parent of the server's span, and the span that
// was there already is a link.
func TestTheServersSpanContinuesTheClients(t *testing.T) {
	t.Parallel()
	clients, servers := newSpans(t), newSpans(t)
	server := instrument.NewServer(instrument.Config{TracerProvider: servers})
	around, ambient := newSpans(t).Tracer("http").Start(t.Context(), "POST")
	defer ambient.End()
	s := mcpserver.NewMCPServer("acme", "1")
	s.AddTool(mcp.NewTool("echo"), func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = trace.ContextWithSpanContext(ctx, ambient.SpanContext())
		ctx, end := server.Begin(ctx, instrument.Incoming{Method: mcp.MethodToolsCall, Request: &request})
		result := mcp.NewToolResultText(trace.SpanContextFromContext(ctx).SpanID().String())
		end(result, nil)
		return result, nil
	})
	c, err := opening.Open(around, opening.InProcess{Server: s}, middleware.Tracing(clients))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}})
	require.NoError(t, err)

	ended := clients.recorder.Ended()
	parent := ended[len(ended)-1].SpanContext()
	require.Len(t, servers.recorder.Ended(), 1)
	span := servers.recorder.Ended()[0]
	assert.Equal(t, parent.TraceID(), span.SpanContext().TraceID())
	assert.Equal(t, parent.SpanID(), span.Parent().SpanID())
	assert.True(t, span.Parent().IsRemote())
	require.Len(t, span.Links(), 1)
	assert.Equal(t, ambient.SpanContext().SpanID(), span.Links()[0].SpanContext.SpanID())
	assert.Equal(t, mcp.NewTextContent(span.SpanContext().SpanID().String()), result.Content[0], "the handler works within the span")
}

func TestAServerTakesTheMetaOfARequestWithoutOne(t *testing.T) {
	t.Parallel()
	s := newSpans(t)
	server := instrument.NewServer(instrument.Config{TracerProvider: s})
	meta := &mcp.Meta{AdditionalFields: map[string]any{"traceparent": "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01", "tracestate": 7}}
	_, end := server.Begin(t.Context(), instrument.Incoming{Method: mcp.MethodPing, Meta: meta})
	end(nil, nil)
	assert.Equal(t, "0102030405060708", s.recorder.Ended()[0].Parent().SpanID().String())
	assert.Empty(t, s.recorder.Ended()[0].Links())

	around, ambient := s.Tracer("http").Start(t.Context(), "POST")
	defer ambient.End()
	_, end = server.Begin(around, instrument.Incoming{Method: mcp.MethodPing})
	end(nil, nil)
	assert.Equal(t, ambient.SpanContext().SpanID(), s.recorder.Ended()[1].Parent().SpanID(), "without a context in _meta the one around is the parent")
	assert.Empty(t, s.recorder.Ended()[1].Links())
}

// Within one process the client's span is both around and in _meta.
func TestASpanIsNotLinkedToItsOwnParent(t *testing.T) {
	t.Parallel()
	s := newSpans(t)
	server := instrument.NewServer(instrument.Config{TracerProvider: s})
	ctx, parent := s.Tracer("client").Start(t.Context(), "tools/call")
	defer parent.End()
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	_, end := server.Begin(ctx, instrument.Incoming{Method: mcp.MethodPing, Meta: &mcp.Meta{AdditionalFields: map[string]any{"traceparent": carrier["traceparent"]}}})
	end(nil, nil)
	assert.Equal(t, parent.SpanContext().SpanID(), s.recorder.Ended()[0].Parent().SpanID())
	assert.Empty(t, s.recorder.Ended()[0].Links())
}
