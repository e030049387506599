package vmcp

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// Apply makes the session one over other backends. Those that are the same,
// with the same Connector and all else equal, are not touched; the others are
// connected to first, as [Builder.Build] does it, and take the place of those
// that are no longer in the list, which are closed when their calls in flight
// have ended: a call fails only where nobody has what it is about any more. What
// callers have set and subscribed to holds for a new backend of the same ID. A backend that fails, a required one too, fails only itself and
// is tried again. Apply fails with [ErrBackends] if the backends are invalid,
// with the error of ctx if that ends before the new ones have answered, and
// with [ErrClosed]; it has changed nothing then. It may be called by several at
// once; one waits for the other.
func (s *Session) Apply(ctx context.Context, backends []Backend) error {
	if err := validate(backends); err != nil {
		return err
	}
	select {
	case s.applying <- struct{}{}:
		defer func() { <-s.applying }()
	case <-ctx.Done():
		return fmt.Errorf("vmcp: interrupted while the backends were changed already: %w", ctx.Err())
	case <-s.life.Done():
		return ErrClosed
	}
	wanted, added := s.plan(ctx, backends)
	err := s.startAll(ctx, added)
	if err != nil {
		for _, m := range added {
			m.end()
		}
		return err
	}
	return s.replace(wanted)
}

// plan returns the members for the backends, of which some are new.
func (s *Session) plan(ctx context.Context, backends []Backend) (wanted, added []*member) {
	for _, backend := range backends {
		before := s.all()
		if i := slices.IndexFunc(before, func(m *member) bool { return m.equal(backend) }); i >= 0 {
			wanted = append(wanted, before[i])
			continue
		}
		m := s.newMember(ctx, backend)
		wanted, added = append(wanted, m), append(added, m)
	}
	return wanted, added
}

// replace puts the members in the place of those before, and lets those go that
// are not among them, once no new call comes to them.
func (s *Session) replace(wanted []*member) error {
	if s.life.Err() != nil {
		return ErrClosed
	}
	var before []*member
	ids := make([]string, len(wanted))
	for i, m := range wanted {
		ids[i] = m.ID
		m.admitted.Store(true)
	}
	s.publishOf(func() []*member {
		before = s.all()
		return wanted
	})
	for _, m := range before {
		if !slices.Contains(wanted, m) {
			m.end()
		}
	}
	s.shared.keepOnly(ids) // after the end of those that leave: they need not be told
	for _, m := range wanted {
		s.tell(m) // the supervisor of a new one may be busy
	}
	return nil
}

func (b Backend) equal(other Backend) bool {
	same := b.Connector == other.Connector
	b.Connector, other.Connector = nil, nil
	return same && reflect.DeepEqual(b, other)
}
