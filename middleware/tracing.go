package middleware

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes one client span for each request, named "{method} {tool or
// prompt}" with the attributes and the status of the OpenTelemetry semantic
// conventions for MCP, and sends its context along in params._meta, as
// traceparent, tracestate and baggage, for the server to join. It writes into a
// copy of the request. Those of mcp-go's requests that have no _meta (ping,
// logging/setLevel, resources/subscribe, completion/complete, the handshake) get
// one where package connect opened the connection; see [wire.Exchange].
//
// It makes no span for what nobody sends, see [Metrics], and none where the
// wrapped client has a tracer of mcp-go's own (client.WithTracer): that makes
// one for each request already, and the context that is sent along is then the
// caller's. The tracer that package connect installs does not count: it records
// nothing.
//
// Put it outside of Metrics, so that their exemplars name the span. Without an
// SDK it spends nothing. A nil provider means OpenTelemetry's global one, also
// if that is set later.
func Tracing(provider trace.TracerProvider, opts ...Option) mcpclient.Middleware {
	o := apply(opts)
	source := newTracerSource(provider)
	names := NewSeriesLimit(o.seriesLimit.most)
	return func(next mcpclient.Handler) mcpclient.Handler {
		t := &tracing{options: &o, source: source, names: names, next: next}
		return t.handle
	}
}

// WithTracerProvider is the provider that [Default] traces with. Nil, the
// default, means OpenTelemetry's global one.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(o *options) {
		if provider != nil {
			o.tracerProvider = provider
		}
	}
}

// WithPropagator replaces the format in which [Tracing] writes the trace's
// context and an [Endpoint] reads it. By default it is the W3C's, whatever
// OpenTelemetry's global one is: MCP names those keys (SEP-414).
func WithPropagator(propagator propagation.TextMapPropagator) Option {
	return func(o *options) {
		if propagator != nil {
			o.propagator = propagator
		}
	}
}

var w3c = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// tracing traces one client.
type tracing struct {
	*options
	source *tracerSource
	names  *SeriesLimit
	next   mcpclient.Handler

	look    sync.Once
	foreign bool // mcp-go's client has a tracer of its own
}

func (t *tracing) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	tracer := t.source.tracer()
	if tracer == nil || sendsNothing(call) {
		return t.next(ctx, call)
	}
	t.look.Do(func() { t.foreign = hasTracer(call.Inner()) })
	ctx, exchange := wire.WithExchange(ctx)
	if t.foreign {
		return t.next(ctx, injected(ctx, t.propagator, exchange, call))
	}
	ctx, span := tracer.Start(ctx, t.name(call), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(t.about(call)...))
	defer span.End()
	start := time.Now()
	result, err := t.next(ctx, injected(ctx, t.propagator, exchange, call))
	if span.IsRecording() {
		t.finish(span, outcomeOf(ctx, call, result, err, time.Since(start), exchange))
	}
	return result, err
}

// name is "{method} {target}", with few targets.
func (t *tracing) name(call mcpclient.Call) string {
	tool, prompt := subject(call)
	return spanName(t.names, kind{method: string(call.Method), tool: tool, prompt: prompt})
}

func spanName(names *SeriesLimit, k kind) string {
	limited := names.admit(nil, series{kind: k})
	return strings.TrimRight(limited.method+" "+limited.tool+limited.prompt, " ")
}

// about is what is known before the request, for those who sample.
func (t *tracing) about(call mcpclient.Call) []attribute.KeyValue {
	tool, prompt := subject(call)
	about := series{kind{method: methodName(call.Method), tool: tool, prompt: prompt}, connection{version: protocolVersion(call)}}
	return text(about.all(t.attributes), attrResourceURI, t.mask(withoutUser(resourceURI(call))))
}

func (t *tracing) finish(span trace.Span, outcome Outcome) {
	facts := outcome.exchange.Facts()
	request := kind{method: methodName(outcome.method())}
	end := series{request.failed(outcome), connection{protocolVersion(outcome.Call), facts.Peer}}
	attributes := end.all(t.attributes)
	attributes = text(attributes, attrRequestID, facts.RequestID)
	attributes = text(attributes, attrSessionID, facts.SessionID)
	span.SetAttributes(attributes...)
	if method := outcome.method(); method != outcome.Call.Method {
		span.SetName(string(method))
	}
	t.fail(span, outcome)
}

// fail sets the status of what failed, with the server's own words.
func (o *options) fail(span trace.Span, outcome Outcome) {
	switch {
	case outcome.Err != nil:
		span.SetStatus(codes.Error, plain.Line(o.mask(serverMessage(outcome.Err)), longestStatus))
	case outcome.Kind != OutcomeOK:
		span.SetStatus(codes.Error, "")
	}
}

// longestStatus is how many characters of a server's words a span's status has.
const longestStatus = 512
