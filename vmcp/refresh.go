package vmcp

import (
	"context"
	"fmt"
)

// Refresh asks a backend for its lists again, through the same chain as the
// first time, and says whether they changed. A session does so by itself when
// a backend says that a list changed. Should a list fail, the session keeps
// the lists that it had, the report says that they are old and why, and the
// error is the backend's, or an [*UnknownError].
func (s *Session) Refresh(ctx context.Context, id string) (changed bool, err error) {
	m, err := s.member(id)
	if err != nil {
		return false, err
	}
	return s.refresh(ctx, m)
}

func (s *Session) refresh(ctx context.Context, m *member) (bool, error) {
	select { // one after the other: the last to end must be the last to have begun
	case m.refreshing <- struct{}{}:
		defer func() { <-m.refreshing }()
	case <-ctx.Done():
		return false, s.blame(m, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, s.listTimeout)
	defer cancel()
	ctx, done := s.bound(ctx)
	defer done()
	if s.life.Err() != nil {
		return false, ErrClosed
	}
	changed, err := m.list(ctx, m.client)
	if err != nil {
		return false, s.blame(m, err)
	}
	if changed {
		s.reroute()
	}
	return changed, nil
}

// member returns a backend that can be asked.
func (s *Session) member(id string) (*member, error) {
	for _, m := range s.members {
		switch {
		case m.ID != id:
		case m.client == nil:
			return nil, fmt.Errorf("backend %q failed: %w", id, m.err)
		default:
			return m, nil
		}
	}
	return nil, &UnknownError{Kind: "backend", Name: id}
}
