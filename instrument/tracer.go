package instrument

import (
	"context"

	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// A Tracer makes the spans of requests and carries their context in
// params._meta. It is safe for concurrent use.
type Tracer struct {
	config Config
	source *tracerSource
	names  *SeriesLimit
}

// NewTracer makes one. Of the configuration all but MeterProvider counts; as many
// names of spans are told apart as its SeriesLimit allows on metrics.
func NewTracer(c Config) *Tracer {
	c = c.orDefaults()
	return &Tracer{config: c, source: newTracerSource(c.TracerProvider), names: NewSeriesLimit(c.SeriesLimit.most)}
}

// Records says whether there is somebody to trace for.
func (t *Tracer) Records() bool { return t.source.tracer() != nil }

// Start starts the span of a request that a client sends, named "{method} {tool or
// prompt}", with few of those. Its attributes are what is known before the request,
// for those who sample. The caller ends it.
func (t *Tracer) Start(ctx context.Context, call mcpclient.Call, protocolVersion string) (context.Context, trace.Span) {
	about := Series{RequestOf(call), Connection{ProtocolVersion: protocolVersion}}
	attributes := text(about.attributes(t.config.Attributes), attrResourceURI, t.resource(call))
	return t.start(ctx, about.Request, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// Describe says on the span of a request that a client sent how it ended.
func (t *Tracer) Describe(span trace.Span, outcome Outcome, protocolVersion string) {
	facts := outcome.Facts()
	request := Request{Method: string(outcome.Method())}
	end := Series{request.ended(outcome), Connection{protocolVersion, facts.Peer}}
	attributes := end.attributes(t.config.Attributes)
	attributes = text(attributes, attrRequestID, facts.RequestID)
	attributes = text(attributes, attrSessionID, facts.SessionID)
	span.SetAttributes(attributes...)
	if method := outcome.Method(); method != outcome.Call.Method {
		span.SetName(string(method))
	}
	t.fail(span, outcome)
}

// start returns a span that records nothing where nobody does any more.
func (t *Tracer) start(ctx context.Context, about Request, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	tracer := t.source.tracer()
	if tracer == nil {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return tracer.Start(ctx, t.names.admit(nil, Series{Request: about}).name(), options...) //nolint:spancheck // who began it ends it
}

// resource is the URI of the resource that a call is about, without secrets.
func (t *Tracer) resource(call mcpclient.Call) string {
	return t.config.Mask(withoutUser(resourceURI(call)))
}

// fail sets the status of what failed, with the server's own words.
func (t *Tracer) fail(span trace.Span, outcome Outcome) {
	switch {
	case outcome.Err != nil:
		span.SetStatus(codes.Error, plain.Line(t.config.Mask(failure.Of(outcome.Err).ServerWords()), longestStatus))
	case outcome.Kind != OutcomeOK:
		span.SetStatus(codes.Error, "")
	}
}

// longestStatus is how many characters a span's status has: a server may have
// written the text.
const longestStatus = 512
