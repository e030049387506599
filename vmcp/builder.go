package vmcp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

// A Builder builds sessions. Its zero value works: it logs nothing and measures
// with OpenTelemetry's global provider. It is safe for concurrent use as long
// as its fields do not change.
type Builder struct {
	// Logger gets one record for each call and each state of a backend, with
	// "backendID". Nil discards.
	Logger *slog.Logger
	// MeterProvider measures; nil means OpenTelemetry's global one.
	MeterProvider metric.MeterProvider
	// Concurrency is how many backends are connected to at the same time, 64
	// by default. The others wait for their turn, and their Timeout with them.
	Concurrency int
	// Timeout is how long one backend may take for its handshake and its
	// lists together, 30 s by default.
	Timeout time.Duration
	// CallTimeout bounds a call of the session whose context has no deadline,
	// 5 minutes by default.
	CallTimeout time.Duration
	// Names says how the tools and prompts of the backends are named,
	// [Prefixed] by default.
	Names Names
	// Asks is what the backends may ask the caller for, nothing by default.
	Asks Asks
	// TracerProvider traces; nil means OpenTelemetry's global one.
	TracerProvider trace.TracerProvider
	// Propagator writes the trace into what is sent to backends, and nil means
	// the W3C's trace context and baggage.
	Propagator propagation.TextMapPropagator
	// SoftDeadline is how long Build waits for backends that are not required.
	// Those that have not answered by then join later, see
	// [Session.OnChange]. Zero means that Build waits for all.
	SoftDeadline time.Duration
	// AllowEmpty lets a session come about although every backend failed:
	// they may come back. A required one that fails still fails the build.
	AllowEmpty bool
	// StaleFor is how long the session keeps the last good lists of a backend
	// that is lost, or whose lists fail, 5 minutes by default.
	StaleFor time.Duration
	// ProbeEvery is how long nothing may be heard from a backend before it is
	// asked whether it is alive, as by [Session.Probe]. Zero means never.
	ProbeEvery time.Duration
}

// each calls f for all backends, a bounded number at a time.
func (b *Builder) each(backends []Backend, f func(i int, backend Backend)) {
	var group errgroup.Group
	group.SetLimit(b.concurrency())
	for i, backend := range backends {
		group.Go(func() error {
			f(i, backend)
			return nil
		})
	}
	_ = group.Wait() // f returns no error
}

// namesOnMetrics bounds the names of tools and prompts that all sessions of the
// program together put on metrics.
var namesOnMetrics = instrument.NewSeriesLimit(0)

// chain is the one chain that every request to a backend passes.
func (b *Builder) chain(backend Backend, note func(context.Context, middleware.Contradiction), more ...middleware.Option) mcpclient.Middleware {
	return middleware.Default(b.logger().With(events.KeyBackendID, backend.ID), b.MeterProvider, slices.Concat(more, backend.Tolerance.options(), []middleware.Option{
		middleware.WithTracerProvider(b.TracerProvider),
		middleware.WithPropagator(b.Propagator),
		middleware.WithSeriesLimit(namesOnMetrics),
		middleware.WithUtilities(),
		middleware.OnContradiction(note),
		middleware.WithMask(backend.Connector.Mask),
		middleware.WithAttributes(backend.attributes()...),
	})...)
}

func (b *Builder) logger() *slog.Logger {
	if b.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Logger
}

func (b *Builder) concurrency() int {
	if b.Concurrency <= 0 {
		return DefaultConcurrency
	}
	return b.Concurrency
}

func (b *Builder) timeout() time.Duration {
	if b.Timeout <= 0 {
		return DefaultTimeout
	}
	return b.Timeout
}

func (b *Builder) callTimeout() time.Duration {
	if b.CallTimeout <= 0 {
		return DefaultCallTimeout
	}
	return b.CallTimeout
}

func (b *Builder) timeoutOf(backend Backend) time.Duration {
	if backend.Timeout > 0 {
		return backend.Timeout
	}
	return b.timeout()
}

func (b *Builder) callTimeoutOf(backend Backend) time.Duration {
	if backend.CallTimeout > 0 {
		return backend.CallTimeout
	}
	return b.callTimeout()
}

func (b *Builder) staleFor() time.Duration {
	if b.StaleFor <= 0 {
		return DefaultStaleFor
	}
	return b.StaleFor
}
