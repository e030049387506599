package redact

import (
	"context"
	"log/slog"
)

// Handler returns a handler that masks secrets in what it passes to next. It is
// a middleware for slog-multi's Pipe. Attributes that were added by With are
// masked once, when they are added; so values that are registered later do not
// matter for them.
func (r *Redactor) Handler(next slog.Handler) slog.Handler {
	return &handler{redactor: r, next: next}
}

type handler struct {
	redactor *Redactor
	next     slog.Handler
	within   kind // of the group that is open
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes on the record that it was given if there is nothing to mask.
func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	message := h.redactor.Text(record.Message)
	clean := message == record.Message
	if clean {
		record.Attrs(func(attr slog.Attr) bool {
			_, changed := h.redactor.attr(attr, h.within)
			clean = !changed
			return clean
		})
	}
	if clean {
		return h.next.Handle(ctx, record)
	}
	return h.next.Handle(ctx, h.masked(record, message))
}

func (h *handler) masked(record slog.Record, message string) slog.Record {
	masked := slog.NewRecord(record.Time, record.Level, message, record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		attr, _ = h.redactor.attr(attr, h.within)
		masked.AddAttrs(attr)
		return true
	})
	return masked
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		masked[i], _ = h.redactor.attr(attr, h.within)
	}
	return &handler{redactor: h.redactor, next: h.next.WithAttrs(masked), within: h.within}
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	within := h.within
	if kind := h.redactor.kindOf(name); kind != harmless {
		within = several
	}
	return &handler{redactor: h.redactor, next: h.next.WithGroup(name), within: within}
}
