package middleware

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// An Endpoint measures and traces what comes in at an MCP server, as [Metrics]
// and [Tracing] do what goes out from a client: mcp.server.operation.duration,
// mcp.server.session.duration, and one server span for each request, whose
// parent is the context that came in params._meta.
//
//	ctx, end := endpoint.Begin(ctx, middleware.Incoming{Method: mcp.MethodToolsCall, Request: &request})
//	result, err := handle(ctx, request)
//	end(result, err)
//
// It is safe for concurrent use.
type Endpoint struct {
	options
	source    *tracerSource
	names     *SeriesLimit
	known     *seriesOptions
	operation metric.Float64Histogram
	session   metric.Float64Histogram
}

// NewEndpoint makes one; a nil provider means OpenTelemetry's global one. Of the
// options [WithAttributes], [WithSeriesLimit], [WithPropagator], [WithMask] and
// [WithTracerProvider] count.
func NewEndpoint(provider metric.MeterProvider, opts ...Option) *Endpoint {
	o, meter := apply(opts), meterOf(provider)
	return &Endpoint{
		options:   o,
		source:    newTracerSource(o.tracerProvider),
		names:     NewSeriesLimit(o.seriesLimit.most),
		known:     newSeriesOptions(&o),
		operation: serverOperationDuration.histogram(meter),
		session:   serverSessionDuration.histogram(meter),
	}
}

// Incoming is one request, or notification, that a server got. Only Method must
// be there.
type Incoming struct {
	Method mcp.MCPMethod
	// Request points to mcp-go's request struct, such as *mcp.CallToolRequest:
	// it says which tool, prompt or resource it is about, and has _meta. It is
	// not changed.
	Request any
	// Meta is the _meta of a request whose struct has none; else nil.
	Meta *mcp.Meta
	// RequestID is the JSON-RPC id; nil for a notification.
	RequestID any
	// SessionID and ProtocolVersion are those of the caller's session.
	SessionID, ProtocolVersion string
	// Caller is how the request came: the transport and the protocol below
	// MCP, and from where.
	Caller wire.Peer
}

// Begin says that the server begins to work on a request. The context that it
// returns has the request's span; what the server asks others for with it
// becomes a part of the same trace. The function that it returns must be called
// once, with what the server answers: the result, such as *mcp.CallToolResult,
// or an error. It knows the codes of mcp-go's errors, also of those that
// [mcp-go's hooks] get.
//
// [mcp-go's hooks]: https://pkg.go.dev/github.com/mark3labs/mcp-go/server#Hooks
func (e *Endpoint) Begin(ctx context.Context, in Incoming) (context.Context, func(result any, err error)) {
	call := mcpclient.Call{Method: in.Method, Request: in.Request}
	inner, span := e.span(ctx, in, call)
	start := time.Now()
	return inner, func(result any, err error) {
		answered := &wire.Exchange{}
		if code, known := codeOnTheWire(err); known {
			answered.Refused(wire.Refusal{Code: code})
		}
		e.end(inner, span, in, outcomeOf(ctx, call, result, err, time.Since(start), answered))
	}
}

func (e *Endpoint) end(ctx context.Context, span trace.Span, in Incoming, outcome Outcome) {
	about := in.series()
	about.kind = about.failed(outcome)
	e.operation.Record(ctx, outcome.Duration.Seconds(), e.known.recordOptions(about)...)
	if span == nil {
		return
	}
	ended := series{kind: kind{errorType: about.errorType, code: about.code}}
	span.SetAttributes(ended.all(nil)...)
	e.fail(span, outcome)
	span.End()
}

// Session says that a session with a caller begins. The function that it returns
// must be called once, when it ends, with what ended it where that was a failure.
func (e *Endpoint) Session(ctx context.Context, protocolVersion string, caller wire.Peer) (end func(err error)) {
	start := time.Now()
	return func(err error) {
		about := Incoming{ProtocolVersion: protocolVersion, Caller: caller}.series()
		about.method = ""
		if err != nil {
			about.errorType = Outcome{Err: err, Kind: kindOf(ctx, nil, err)}.errorType()
		}
		e.session.Record(ctx, time.Since(start).Seconds(), e.known.recordOptions(about)...)
	}
}

// span starts the server's span, or none without an SDK.
func (e *Endpoint) span(ctx context.Context, in Incoming, call mcpclient.Call) (context.Context, trace.Span) {
	tracer := e.source.tracer()
	if tracer == nil {
		return ctx, nil
	}
	around := trace.SpanContextFromContext(ctx)
	ctx = extracted(ctx, e.propagator, in.meta())
	about := in.series()
	attributes := about.all(e.attributes)
	attributes = text(attributes, attrResourceURI, e.mask(withoutUser(resourceURI(call))))
	attributes = append(attributes, in.spanAttributes()...)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...)}
	if around.IsValid() && around.SpanID() != trace.SpanContextFromContext(ctx).SpanID() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: around})) // such as that of the HTTP request
	}
	return tracer.Start(ctx, spanName(e.names, about.kind), options...) //nolint:spancheck // Endpoint.end ends it
}

func (in Incoming) series() series {
	tool, prompt := subject(mcpclient.Call{Request: in.Request})
	below := wire.Peer{Transport: in.Caller.Transport, Protocol: in.Caller.Protocol, ProtocolVersion: in.Caller.ProtocolVersion}
	return series{kind{method: methodName(in.Method), tool: tool, prompt: prompt}, connection{in.ProtocolVersion, below}}
}

// spanAttributes have too many values for metrics.
func (in Incoming) spanAttributes() []attribute.KeyValue {
	var all []attribute.KeyValue
	if in.RequestID != nil {
		all = text(all, attrRequestID, fmt.Sprint(in.RequestID))
	}
	all = text(all, attrSessionID, in.SessionID)
	all = text(all, attrClientAddress, in.Caller.Address)
	if in.Caller.Port != 0 {
		all = append(all, attribute.Int(attrClientPort, in.Caller.Port))
	}
	return all
}

func (in Incoming) meta() *mcp.Meta {
	if in.Meta != nil {
		return in.Meta
	}
	return metaOf(in.Request)
}

// codeOnTheWire is the code that mcp-go's server answers an error with.
func codeOnTheWire(err error) (code int, known bool) {
	if answered, ok := errors.AsType[interface {
		error
		ToJSONRPCError() mcp.JSONRPCError
	}](err); ok { // what its hooks get
		return answered.ToJSONRPCError().Error.Code, true
	}
	if answered, ok := errors.AsType[interface {
		error
		JSONRPCError() mcp.JSONRPCError
	}](err); ok {
		return answered.JSONRPCError().Error.Code, true
	}
	return 0, false
}
