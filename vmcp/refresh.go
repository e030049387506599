package vmcp

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
)

// Refresh asks a backend for its lists again, through the same chain as the
// first time, and says whether they changed. A session does so by itself when
// a backend says that a list changed. Should a list fail, the session keeps
// the lists that it had for as long as [Builder.StaleFor] says and asks again
// by itself, the report says that they are old and why, and the error is the
// backend's, an [*UnavailableError] or an [*UnknownError].
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
	ctx, cancel := context.WithTimeout(ctx, s.builder.timeoutOf(m.Backend))
	defer cancel()
	ctx, done := s.bound(ctx, m)
	defer done()
	var offered offer
	c, err := s.over(ctx, m, func(ctx context.Context, client *mcpclient.Client) (err error) {
		offered, err = m.discoverAgain(ctx, client)
		return err
	})
	if c == nil {
		return false, s.blame(m, err)
	}
	changed := m.refreshed(ctx, c, offered, err)
	if err != nil {
		return false, s.blame(m, err)
	}
	if changed {
		s.publish()
	}
	return changed, nil
}

func (m *member) discoverAgain(ctx context.Context, client *mcpclient.Client) (offer, error) {
	m.mu.Lock()
	m.noted = map[promise]bool{}
	server := m.server
	m.mu.Unlock()
	return listAll(ctx, client, server.Capabilities)
}

// refreshed takes over what a refresh has brought, or keeps what there was.
func (m *member) refreshed(ctx context.Context, c *connection, offered offer, err error) (changed bool) {
	defer m.warnOfPatterns() // when the mutex is free
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != c || errors.Is(ctx.Err(), context.Canceled) && err != nil {
		return false // whoever asked gave up, or another connection has other lists: that says nothing
	}
	defer m.poke()
	if (m.stale == nil) != (err == nil) {
		m.since = time.Now()
	}
	if err == nil {
		m.refreshes.reset()
		return m.take(offered)
	}
	m.stale = m.hide(err)
	if m.staleSince.IsZero() {
		m.staleSince = time.Now()
	}
	m.refreshAt = time.Now().Add(m.refreshes.after(err))
	return false
}

// member returns the backend with an ID.
func (s *Session) member(id string) (*member, error) {
	for _, m := range s.all() {
		if m.ID == id {
			return m, nil
		}
	}
	return nil, &UnknownError{Kind: "backend", Name: id}
}
