package middleware

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/trace"
)

// Logging writes one record for each call, at its end, with the outcome that
// the caller got. Which server it was comes with the logger:
// logger.With("backendID", id).
//
// The level is [DefaultLevel] and the fields are [DefaultFields] unless
// [WithLevel] or [WithFields] replace them; trace_id and span_id follow where
// the context has a span. All keys are in [Keys]. Arguments and results are
// logged only with [WithPayloads]. A record has no source: it would always be
// this package.
//
// A nil logger discards, and then nothing is spent, nor with one whose handler
// is off. The default fields that calls of one kind have in common are handed
// to the handler's WithAttrs once.
func Logging(logger *slog.Logger, opts ...Option) mcpclient.Middleware {
	if logger == nil {
		return nil
	}
	o := apply(opts)
	return func(next mcpclient.Handler) mcpclient.Handler {
		l := &logging{options: &o, handler: logger.Handler(), next: next}
		return l.handle
	}
}

// logging logs one client's calls.
type logging struct {
	*options
	handler slog.Handler
	next    mcpclient.Handler
	known   knownHandlers
}

func (l *logging) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	if !l.handler.Enabled(ctx, math.MaxInt) {
		return l.next(ctx, call)
	}
	listening, exchange := wire.WithExchange(ctx)
	start := time.Now()
	result, err := l.next(listening, call)
	took := time.Since(start) // less than the time of day costs
	l.write(ctx, start.Add(took), outcomeOf(ctx, call, result, err, took, exchange))
	return result, err
}

func (l *logging) write(ctx context.Context, end time.Time, outcome Outcome) {
	level := l.level(outcome)
	if !l.handler.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(end, level, "mcp call", 0)
	handler := l.handler
	switch {
	case l.fields != nil:
		record.AddAttrs(l.masked(l.fields(outcome))...)
	case outcome.Err != nil:
		handler = l.known.handler(l, kindOfCall(outcome))
		record.AddAttrs(l.masked(ownFields(outcome))...)
	default: // without a slice on the heap
		handler = l.known.handler(l, kindOfCall(outcome))
		record.AddAttrs(slog.Duration(KeyDuration, outcome.Duration))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(spanFields(ctx)...)
	}
	if l.payloads {
		record.AddAttrs(slog.Any(KeyRequest, outcome.Call.Request), slog.Any(KeyResult, outcome.Result))
	}
	_ = handler.Handle(ctx, record) // as slog.Logger does: a log that fails costs no call
}

// spanFields name the span of the caller.
func spanFields(ctx context.Context) []slog.Attr {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return nil
	}
	return []slog.Attr{slog.String(KeyTraceID, span.TraceID().String()), slog.String(KeySpanID, span.SpanID().String())}
}

// masked changes no field of the caller's.
func (o *options) masked(fields []slog.Attr) []slog.Attr {
	if o.mask == nil {
		return fields
	}
	for i, field := range fields {
		if field.Value.Kind() != slog.KindString {
			continue
		}
		if text := o.mask(field.Value.String()); text != field.Value.String() {
			fields = slices.Clone(fields)
			fields[i].Value = slog.StringValue(text)
		}
	}
	return fields
}

// DefaultLevel is DEBUG for a success and for a call its caller cancelled,
// INFO for a tool's result with isError, and WARN for a failure.
func DefaultLevel(outcome Outcome) slog.Level {
	switch outcome.Kind {
	case OutcomeToolError:
		return slog.LevelInfo
	case OutcomeError:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// DefaultFields are operation, method (on the wire), tool or prompt where the
// call is about one, outcome, duration, and for a failure code (JSON-RPC,
// where known) and error.
func DefaultFields(outcome Outcome) []slog.Attr {
	return append(kindOfCall(outcome).fields(), ownFields(outcome)...)
}

// ownFields are the default fields that each call has for itself.
func ownFields(outcome Outcome) []slog.Attr {
	if outcome.Err == nil {
		return []slog.Attr{slog.Duration(KeyDuration, outcome.Duration)}
	}
	fields := append(make([]slog.Attr, 0, 3), slog.Duration(KeyDuration, outcome.Duration))
	if code, ok := outcome.Code(); ok {
		fields = append(fields, slog.Int(KeyCode, code))
	}
	return append(fields, slog.String(KeyError, outcome.Err.Error()))
}
