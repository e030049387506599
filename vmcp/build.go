package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

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

// startAll starts members and waits for them, as a build does.
func (s *Session) startAll(ctx context.Context, members []*member) error {
	for _, m := range members {
		if !s.start(m) {
			return ErrClosed
		}
	}
	return s.await(ctx, members)
}

// newMember returns a member that has not been started.
func (s *Session) newMember(ctx context.Context, backend Backend) *member {
	return newMember(ctx, backend, surroundings{
		builder: &s.builder, session: s.life, turns: s.turns, shared: s.shared, changed: s.publish, stands: s.tell,
	})
}

// start starts the supervisor of a member, unless the session is closed.
func (s *Session) start(m *member) bool {
	return s.supervising.Go(func() {
		err := m.supervise()
		s.forget(m)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failures = append(s.failures, err)
	})
}
