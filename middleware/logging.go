package middleware

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
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
// the context has a span. All keys are in [events.Keys]. Arguments and results are
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
		l.known.base, l.known.mask = l.handler, o.Mask
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
	l.write(ctx, start.Add(took), instrument.OutcomeOf(ctx, call, result, err, took, exchange))
	return result, err
}

func (l *logging) write(ctx context.Context, end time.Time, outcome instrument.Outcome) {
	level := l.level(outcome)
	if !l.handler.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(end, level, "mcp call", 0)
	handler := l.handler
	switch {
	case l.fields != nil:
		record.AddAttrs(masked(l.fields(outcome), l.Mask)...)
	case outcome.Err != nil:
		handler = l.known.handler(kindOfCall(outcome))
		record.AddAttrs(masked(ownFields(outcome), l.Mask)...)
	default: // without a slice on the heap
		handler = l.known.handler(kindOfCall(outcome))
		record.AddAttrs(slog.Duration(events.KeyDuration, outcome.Duration))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(spanFields(ctx)...)
	}
	if l.payloads {
		record.AddAttrs(slog.Any(events.KeyRequest, outcome.Call.Request), slog.Any(events.KeyResult, outcome.Result))
	}
	_ = handler.Handle(ctx, record) // as slog.Logger does: a log that fails costs no call
}
