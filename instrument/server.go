package instrument

import (
	"context"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/trace"
)

// A Server measures and traces what comes in at an MCP server, as the middlewares
// Metrics and Tracing do what goes out from a client: mcp.server.operation.duration,
// mcp.server.session.duration, and one server span for each request, whose
// parent is the context that came in params._meta.
//
//	ctx, end := server.Begin(ctx, instrument.Incoming{Method: mcp.MethodToolsCall, Request: &request})
//	result, err := handle(ctx, request)
//	end(result, err)
//
// It is safe for concurrent use.
type Server struct {
	durations *Durations
	tracer    *Tracer
}

// NewServer makes one.
func NewServer(c Config) *Server {
	return &Server{durations: serverDurations(c), tracer: NewTracer(c)}
}

// Begin says that the server begins to work on a request. The context that it
// returns has the request's span; what the server asks others for with it
// becomes a part of the same trace. The function that it returns must be called
// once, with what the server answers: the result, such as *mcp.CallToolResult,
// or an error. It knows the codes of mcp-go's errors, also of those that
// [mcp-go's hooks] get.
//
// [mcp-go's hooks]: https://pkg.go.dev/github.com/mark3labs/mcp-go/server#Hooks
func (s *Server) Begin(ctx context.Context, in Incoming) (context.Context, func(result any, err error)) {
	inner, span := s.span(ctx, in)
	start := time.Now()
	return inner, func(result any, err error) {
		s.end(inner, span, in, OutcomeOf(ctx, in.call(), result, err, time.Since(start), nil))
	}
}

func (s *Server) end(ctx context.Context, span trace.Span, in Incoming, outcome Outcome) {
	about := in.series()
	about.Request = about.ended(outcome)
	s.durations.Operation(ctx, outcome.Duration, about)
	if span == nil {
		return
	}
	ended := Series{Request: Request{ErrorType: about.ErrorType, Code: about.Code}}
	span.SetAttributes(ended.attributes(nil)...)
	s.tracer.fail(span, outcome)
	span.End()
}

// Session says that a session with a caller begins. The function that it returns
// must be called once, when it ends, with what ended it where that was a failure.
func (s *Server) Session(ctx context.Context, protocolVersion string, caller wire.Peer) (end func(err error)) {
	start := time.Now()
	return func(err error) {
		took := time.Since(start)
		about := Series{Connection: connectionOf(protocolVersion, caller)}
		about.ErrorType = OutcomeOf(ctx, mcpclient.Call{}, nil, err, took, nil).ErrorType()
		s.durations.Session(ctx, took, about)
	}
}

// span starts the server's span, or none without an SDK.
func (s *Server) span(ctx context.Context, in Incoming) (context.Context, trace.Span) {
	if !s.tracer.Records() {
		return ctx, nil
	}
	around := trace.SpanContextFromContext(ctx)
	ctx = s.tracer.extracted(ctx, in.meta())
	attributes := in.series().attributes(s.tracer.config.Attributes)
	attributes = text(attributes, attrResourceURI, s.tracer.resource(in.call()))
	attributes = append(attributes, in.spanAttributes()...)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...)}
	if around.IsValid() && around.SpanID() != trace.SpanContextFromContext(ctx).SpanID() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: around})) // such as that of the HTTP request
	}
	return s.tracer.start(ctx, in.series().Request, options...)
}
