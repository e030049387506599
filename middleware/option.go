package middleware

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// An Option changes one middleware from its documented default. Each says
// which; a constructor that has nothing to do with an option ignores it, so
// that [Default] can take them all. Nil options are skipped, and an option
// with a nil function keeps the default.
type Option func(*options)

type options struct {
	level           func(Outcome) slog.Level
	fields          func(Outcome) []slog.Attr
	payloads        bool
	limits          PageLimits
	utilities       bool
	onContradiction func(context.Context, Contradiction)
	attributes      []attribute.KeyValue
	mask            func(string) string
}

func apply(opts []Option) options {
	o := options{
		level:           DefaultLevel,
		fields:          DefaultFields,
		limits:          PageLimits{Pages: 1_000, Items: 100_000, Walk: 2 * time.Minute},
		onContradiction: func(context.Context, Contradiction) {},
		mask:            func(text string) string { return text },
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// WithLevel replaces [DefaultLevel] in [Logging].
func WithLevel(level func(Outcome) slog.Level) Option {
	return func(o *options) {
		if level != nil {
			o.level = level
		}
	}
}

// WithFields replaces [DefaultFields] in [Logging].
func WithFields(fields func(Outcome) []slog.Attr) Option {
	return func(o *options) {
		if fields != nil {
			o.fields = fields
		}
	}
}

// WithPayloads makes [Logging] log each request and result as well. They may
// hold secrets and personal data.
func WithPayloads() Option {
	return func(o *options) { o.payloads = true }
}

// WithPageLimits replaces the bounds of [Pages]; a zero field keeps its default.
func WithPageLimits(limits PageLimits) Option {
	return func(o *options) { o.limits = limits.or(o.limits) }
}

// WithUtilities makes [Tolerance] also forgive -32601 on completion/complete
// (an empty completion) and logging/setLevel (success) where they were
// advertised. The protocol calls the two server utilities: nobody loses
// anything that he had.
func WithUtilities() Option {
	return func(o *options) { o.utilities = true }
}

// OnContradiction makes [Tolerance] call f, on the goroutine of the call, for
// each contradiction that it finds, forgiven or not, repeats included.
func OnContradiction(f func(context.Context, Contradiction)) Option {
	return func(o *options) {
		if f != nil {
			o.onContradiction = f
		}
	}
}

// WithAttributes adds attributes to everything that [Metrics] and [Tolerance]
// measure, such as server.address or the name of the backend.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(o *options) { o.attributes = append(o.attributes, attributes...) }
}

// WithMask makes [Logging] and [Tolerance] pass the texts that they write
// through mask: a server may repeat a secret in what it answers.
func WithMask(mask func(string) string) Option {
	return func(o *options) {
		if mask != nil {
			o.mask = mask
		}
	}
}
