package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// An Option changes one middleware from its documented default. Each says
// which; a constructor that has nothing to do with an option ignores it, so
// that [Default] can take them all. Nil options are skipped, and an option
// with a nil function keeps the default.
type Option func(*options)

type options struct {
	level           func(Outcome) slog.Level
	fields          func(Outcome) []slog.Attr // nil for DefaultFields
	payloads        bool
	limits          PageLimits
	utilities       bool
	strict          map[mcp.MCPMethod]bool
	onContradiction func(context.Context, Contradiction)
	attributes      []attribute.KeyValue
	mask            func(string) string
	seriesLimit     *SeriesLimit
	tracerProvider  trace.TracerProvider
	propagator      propagation.TextMapPropagator
}

func apply(opts []Option) options {
	o := options{
		level:           DefaultLevel,
		limits:          PageLimits{Pages: 1_000, Items: 100_000, Walk: 2 * time.Minute},
		onContradiction: func(context.Context, Contradiction) {},
		mask:            func(text string) string { return text },
		propagator:      w3c,
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.seriesLimit == nil {
		o.seriesLimit = NewSeriesLimit(DefaultSeriesLimit)
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

// Strict makes [Tolerance] forgive nothing that a server does wrong with these
// methods, [WithUtilities] notwithstanding. A list that the server advertised
// and does not have, or that is none, is then a [*ContradictionError], as that
// of the tools always is.
func Strict(methods ...mcp.MCPMethod) Option {
	return func(o *options) {
		if o.strict == nil {
			o.strict = map[mcp.MCPMethod]bool{}
		}
		for _, method := range methods {
			o.strict[method] = true
		}
	}
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

// WithAttributes adds attributes to everything that [Metrics], [Tracing],
// [Tolerance] and an [Endpoint] record, such as server.address or
// [AttributeBackendID].
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(o *options) { o.attributes = append(o.attributes, attributes...) }
}

// WithMask makes [Logging], [Tolerance] and [Tracing] pass the texts that they
// write through mask: a server may repeat a secret in what it answers.
func WithMask(mask func(string) string) Option {
	return func(o *options) {
		if mask != nil {
			o.mask = mask
		}
	}
}
