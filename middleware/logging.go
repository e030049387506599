package middleware

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
)

// Logging writes one record for each call, at its end, with the outcome that
// the caller got. Which server it was comes with the logger:
// logger.With("backendID", id).
//
// The level is [DefaultLevel] and the fields are [DefaultFields] unless
// [WithLevel] or [WithFields] replace them. Arguments and results are logged
// only with [WithPayloads]. A nil logger discards, and then nothing is spent.
func Logging(logger *slog.Logger, opts ...Option) mcpclient.Middleware {
	if logger == nil {
		return nil
	}
	o := apply(opts)
	return func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			start := time.Now()
			result, err := next(ctx, call)
			o.log(ctx, logger, outcomeOf(ctx, call, result, err, time.Since(start)))
			return result, err
		}
	}
}

func (o *options) log(ctx context.Context, logger *slog.Logger, outcome Outcome) {
	level := o.level(outcome)
	if !logger.Enabled(ctx, level) {
		return
	}
	fields := o.masked(o.fields(outcome))
	if o.payloads {
		fields = append(slices.Clip(fields), slog.Any("request", outcome.Call.Request), slog.Any("result", outcome.Result))
	}
	logger.LogAttrs(ctx, level, "mcp call", fields...)
}

// masked changes no field of the caller's.
func (o *options) masked(fields []slog.Attr) []slog.Attr {
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
	fields := make([]slog.Attr, 0, 8)
	fields = append(fields, slog.String("operation", outcome.Call.Op), slog.String("method", string(outcome.Call.Method)))
	if tool, prompt := subject(outcome.Call); tool != "" {
		fields = append(fields, slog.String("tool", tool))
	} else if prompt != "" {
		fields = append(fields, slog.String("prompt", prompt))
	}
	fields = append(fields, slog.String("outcome", outcome.Kind), slog.Duration("duration", outcome.Duration))
	if outcome.Err == nil {
		return fields
	}
	if code, ok := outcome.Code(); ok {
		fields = append(fields, slog.Int("code", code))
	}
	return append(fields, slog.String("error", outcome.Err.Error()))
}
