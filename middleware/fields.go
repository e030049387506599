package middleware

import (
	"context"
	"log/slog"
	"slices"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"go.opentelemetry.io/otel/trace"
)

// DefaultLevel is DEBUG for a success and for a call its caller cancelled,
// INFO for a tool's result with isError, and WARN for a failure.
func DefaultLevel(outcome instrument.Outcome) slog.Level {
	switch outcome.Kind {
	case instrument.OutcomeToolError:
		return slog.LevelInfo
	case instrument.OutcomeError:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// DefaultFields are operation, method (on the wire), tool or prompt where the
// call is about one, outcome, duration, and for a failure code (JSON-RPC,
// where known) and error.
func DefaultFields(outcome instrument.Outcome) []slog.Attr {
	return append(kindOfCall(outcome).fields(), ownFields(outcome)...)
}

// callKind is what many calls have in common.
type callKind struct{ op, method, tool, prompt, outcome string }

func kindOfCall(outcome instrument.Outcome) callKind {
	tool, prompt := instrument.Subject(outcome.Call)
	return callKind{outcome.Call.Op, string(outcome.Method()), tool, prompt, outcome.Kind}
}

// fields are the default fields that the calls have in common.
func (k callKind) fields() []slog.Attr {
	fields := append(make([]slog.Attr, 0, 8), slog.String(events.KeyOperation, k.op), slog.String(events.KeyMethod, k.method))
	if k.tool != "" {
		fields = append(fields, slog.String(events.KeyTool, k.tool))
	} else if k.prompt != "" {
		fields = append(fields, slog.String(events.KeyPrompt, k.prompt))
	}
	return append(fields, slog.String(events.KeyOutcome, k.outcome))
}

// ownFields are the default fields that each call has for itself.
func ownFields(outcome instrument.Outcome) []slog.Attr {
	if outcome.Err == nil {
		return []slog.Attr{slog.Duration(events.KeyDuration, outcome.Duration)}
	}
	fields := append(make([]slog.Attr, 0, 3), slog.Duration(events.KeyDuration, outcome.Duration))
	if code, ok := outcome.Code(); ok {
		fields = append(fields, slog.Int(events.KeyCode, code))
	}
	return append(fields, slog.String(events.KeyError, outcome.Err.Error()))
}

// spanFields name the span of the caller.
func spanFields(ctx context.Context) []slog.Attr {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return nil
	}
	return []slog.Attr{slog.String(events.KeyTraceID, span.TraceID().String()), slog.String(events.KeySpanID, span.SpanID().String())}
}

// masked changes no field of the caller's.
func masked(fields []slog.Attr, mask func(string) string) []slog.Attr {
	for i, field := range fields {
		if field.Value.Kind() != slog.KindString {
			continue
		}
		if text := mask(field.Value.String()); text != field.Value.String() {
			fields = slices.Clone(fields)
			fields[i].Value = slog.StringValue(text)
		}
	}
	return fields
}
