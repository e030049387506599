package vmcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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

// A BuildError says that no session came about: a required backend failed, or
// every backend did. Test for it with [errors.As]; it wraps the backends'
// errors.
type BuildError struct {
	Report Report // of all backends
	causes []error
}

// Error names each backend that failed, with its reason and remedy.
func (e *BuildError) Error() string {
	var text strings.Builder
	text.WriteString("vmcp: no session")
	for _, backend := range e.Report.Backends {
		if backend.State == Failed {
			fmt.Fprintf(&text, "; backend %q failed: %s; %s", backend.ID, backend.Reason, backend.Remedy)
		}
	}
	return text.String()
}

// Unwrap returns the errors of the backends that failed.
func (e *BuildError) Unwrap() []error { return e.causes }

// Build connects to all backends, side by side, and returns a session over
// those that work, which the caller closes; it outlives ctx. The session's
// report says what is missing, and the session goes on to bring it back. Build
// waits for every backend, or until SoftDeadline for those that are not
// required. It fails with [ErrBackends] if the backends are invalid, with the
// error of ctx if that ends, and with a [*BuildError] if a required backend
// failed, or every backend did and AllowEmpty is not set; it has closed
// everything then.
func (b *Builder) Build(ctx context.Context, backends []Backend) (*Session, error) {
	if err := validate(backends); err != nil {
		return nil, err
	}
	s := newSession(*b)
	members := make([]*member, len(backends))
	for i, backend := range backends {
		members[i] = s.newMember(ctx, backend)
	}
	if err := s.startAll(ctx, members); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.admit(ctx, members)
	report := s.Report()
	if causes := b.fatal(report); causes != nil {
		return nil, errors.Join(&BuildError{Report: report.final(), causes: causes}, s.Close())
	}
	return s, nil
}

// await waits for the first attempt of each member, or until the soft deadline
// for those that are not required.
func (s *Session) await(ctx context.Context, members []*member) error {
	var soft <-chan time.Time
	if s.builder.SoftDeadline > 0 {
		timer := time.NewTimer(s.builder.SoftDeadline)
		defer timer.Stop()
		soft = timer.C
	}
	for _, m := range requiredFirst(members) {
		deadline := soft
		if m.Required {
			deadline = nil
		}
		select {
		case <-m.settled:
		case <-deadline:
			return nil
		case <-ctx.Done():
		case <-s.life.Done():
			return ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("vmcp: interrupted while the backends were connected to: %w", err)
		}
	}
	return nil
}

func requiredFirst(members []*member) []*member {
	return slices.SortedStableFunc(slices.Values(members), func(a, b *member) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		default:
			return 1
		}
	})
}

// admit makes the first roster, of all that is there, and tells how each backend
// came up, in their order.
func (s *Session) admit(ctx context.Context, members []*member) {
	for _, m := range members {
		m.telling.Lock()
		m.admitted.Store(true)
	}
	s.publishOf(func() []*member { return members })
	for _, m := range members {
		s.tellNow(ctx, m)
		m.telling.Unlock()
	}
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

// fatal returns the errors for which there is no session, or nil.
func (b *Builder) fatal(report Report) []error {
	var all []error
	required := false
	for _, backend := range report.Backends {
		if backend.State == Failed {
			all = append(all, backend.Err)
			required = required || backend.Required
		}
	}
	if required || len(all) == len(report.Backends) && !b.AllowEmpty {
		return all
	}
	return nil
}

// final is the report of a session that did not come about: nothing is tried
// again.
func (r Report) final() Report {
	for i := range r.Backends {
		r.Backends[i].NextTry, r.Backends[i].Attempts = time.Time{}, 0
	}
	return r
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
