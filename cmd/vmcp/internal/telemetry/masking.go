package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// masking takes secrets out of spans before they are sent: the status and the
// events of a span quote errors, and errors quote servers.
type masking struct {
	sdktrace.SpanExporter
	mask func(string) string
}

// ExportSpans exports masked views of the spans.
func (m masking) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	masked := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, span := range spans {
		masked[i] = maskedSpan{span, m.mask}
	}
	return m.SpanExporter.ExportSpans(ctx, masked)
}

type maskedSpan struct {
	sdktrace.ReadOnlySpan
	mask func(string) string
}

func (s maskedSpan) Name() string { return s.mask(s.ReadOnlySpan.Name()) }

func (s maskedSpan) Attributes() []attribute.KeyValue { return s.all(s.ReadOnlySpan.Attributes()) }

func (s maskedSpan) Status() sdktrace.Status {
	status := s.ReadOnlySpan.Status()
	status.Description = s.mask(status.Description)
	return status
}

func (s maskedSpan) Events() []sdktrace.Event {
	events := s.ReadOnlySpan.Events()
	masked := make([]sdktrace.Event, len(events))
	for i, event := range events {
		event.Name = s.mask(event.Name)
		event.Attributes = s.all(event.Attributes)
		masked[i] = event
	}
	return masked
}

func (s maskedSpan) all(attributes []attribute.KeyValue) []attribute.KeyValue {
	masked := make([]attribute.KeyValue, len(attributes))
	for i, a := range attributes {
		masked[i] = s.one(a)
	}
	return masked
}

func (s maskedSpan) one(a attribute.KeyValue) attribute.KeyValue {
	switch a.Value.Type() {
	case attribute.STRING:
		return attribute.String(string(a.Key), s.mask(a.Value.AsString()))
	case attribute.STRINGSLICE:
		texts := a.Value.AsStringSlice() // a copy
		for i := range texts {
			texts[i] = s.mask(texts[i])
		}
		return attribute.StringSlice(string(a.Key), texts)
	default:
		return a
	}
}
