package vmcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"go.opentelemetry.io/otel/metric"
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
// report says what is missing. Build fails with [ErrBackends] if the backends
// are invalid, with the error of ctx if that ends, and with a [*BuildError] if
// a required backend or every backend failed; it has closed everything then.
func (b *Builder) Build(ctx context.Context, backends []Backend) (*Session, error) {
	if err := validate(backends); err != nil {
		return nil, err
	}
	members := make([]*member, len(backends))
	b.each(backends, func(i int, backend Backend) {
		members[i] = b.join(ctx, backend)
	})
	session := newSession(members, b.timeout(), b.callTimeout())
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("vmcp: the build was interrupted: %w", err), session.Close())
	}
	report := session.Report()
	b.log(ctx, report)
	if causes := fatal(members); causes != nil {
		return nil, errors.Join(&BuildError{Report: report, causes: causes}, session.Close())
	}
	return session, nil
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

// join connects to one backend and asks it for its lists.
func (b *Builder) join(ctx context.Context, backend Backend) *member {
	ctx, cancel := context.WithTimeout(ctx, b.timeout())
	defer cancel()
	m := newMember(backend)
	m.client, m.err = backend.Connector.OpenProving(ctx, m.discover, b.chain(backend, m.note))
	m.since = time.Now()
	return m
}

// chain is the one chain that every request to a backend passes.
func (b *Builder) chain(backend Backend, note func(context.Context, middleware.Contradiction), more ...middleware.Option) mcpclient.Middleware {
	return middleware.Default(b.logger().With("backendID", backend.ID), b.MeterProvider, append(more,
		middleware.WithUtilities(),
		middleware.OnContradiction(note),
		middleware.WithMask(backend.Connector.Mask),
		middleware.WithAttributes(backend.attributes()...))...)
}

// fatal returns the errors for which there is no session, or nil.
func fatal(members []*member) []error {
	var all, required []error
	for _, m := range members {
		if m.err == nil {
			continue
		}
		all = append(all, m.err)
		if m.Required {
			required = append(required, m.err)
		}
	}
	if len(required) > 0 || len(all) == len(members) {
		return all
	}
	return nil
}

// log says how each backend came up.
func (b *Builder) log(ctx context.Context, report Report) {
	for _, backend := range report.Backends {
		level := slog.LevelInfo
		if backend.State == Failed {
			level = slog.LevelError
		}
		attrs := []slog.Attr{
			slog.String("event", "backend_"+string(backend.State)),
			slog.String("backendID", backend.ID),
			slog.String("target", backend.Target),
			slog.Int("tools", backend.Tools),
		}
		if backend.Reason != "" {
			attrs = append(attrs, slog.String("reason", backend.Reason), slog.String("remedy", backend.Remedy))
		}
		b.logger().LogAttrs(ctx, level, "backend "+string(backend.State), attrs...)
	}
}

func (b *Builder) logger() *slog.Logger {
	if b.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Logger
}

func (b *Builder) concurrency() int {
	if b.Concurrency <= 0 {
		return 64
	}
	return b.Concurrency
}

func (b *Builder) timeout() time.Duration {
	if b.Timeout <= 0 {
		return 30 * time.Second
	}
	return b.Timeout
}

func (b *Builder) callTimeout() time.Duration {
	if b.CallTimeout <= 0 {
		return 5 * time.Minute
	}
	return b.CallTimeout
}
