package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// An Option changes one middleware from its documented default. Each says
// which; a constructor that has nothing to do with an option ignores it, so
// that [Default] can take them all. Nil options are skipped, and an option
// with a nil function keeps the default.
type Option func(*options)

type options struct {
	instrument.Config

	level           func(instrument.Outcome) slog.Level
	fields          func(instrument.Outcome) []slog.Attr // nil for DefaultFields
	payloads        bool
	limits          PageLimits
	utilities       bool
	strict          map[mcp.MCPMethod]bool
	onContradiction func(context.Context, Contradiction)
}

func apply(opts []Option) options {
	o := options{
		Config:          instrument.Config{Mask: func(text string) string { return text }},
		level:           DefaultLevel,
		limits:          PageLimits{Pages: 1_000, Items: 100_000, Walk: 2 * time.Minute},
		onContradiction: func(context.Context, Contradiction) {},
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.SeriesLimit == nil { // one for all clients of a middleware
		o.SeriesLimit = instrument.NewSeriesLimit(instrument.DefaultSeriesLimit)
	}
	return o
}

func (o *options) measuring(provider metric.MeterProvider) instrument.Config {
	config := o.Config
	config.MeterProvider = provider
	return config
}

// WithLevel replaces [DefaultLevel] in [Logging].
func WithLevel(level func(instrument.Outcome) slog.Level) Option {
	return func(o *options) {
		if level != nil {
			o.level = level
		}
	}
}

// WithFields replaces [DefaultFields] in [Logging].
func WithFields(fields func(instrument.Outcome) []slog.Attr) Option {
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
// anything that it had.
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

// WithAttributes adds attributes to everything that [Metrics], [Tracing] and
// [Tolerance] record, such as server.address or [instrument.AttributeBackendID].
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(o *options) { o.Attributes = append(o.Attributes, attributes...) }
}

// WithMask makes [Logging], [Tolerance] and [Tracing] pass the texts that they
// write through mask: a server may repeat a secret in what it answers.
func WithMask(mask func(string) string) Option {
	return func(o *options) {
		if mask != nil {
			o.Mask = mask
		}
	}
}

// WithSeriesLimit replaces the limit of [instrument.DefaultSeriesLimit] that each
// [Metrics] has of its own.
func WithSeriesLimit(limit *instrument.SeriesLimit) Option {
	return func(o *options) {
		if limit != nil {
			o.SeriesLimit = limit
		}
	}
}

// WithTracerProvider is the provider that [Default] traces with. Nil, the
// default, means OpenTelemetry's global one.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(o *options) {
		if provider != nil {
			o.TracerProvider = provider
		}
	}
}

// WithPropagator replaces the format in which [Tracing] writes the trace's
// context. By default it is the W3C's, whatever OpenTelemetry's global one is:
// MCP names those keys (SEP-414).
func WithPropagator(propagator propagation.TextMapPropagator) Option {
	return func(o *options) {
		if propagator != nil {
			o.Propagator = propagator
		}
	}
}
