package vmcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mcp-candor/candor/events"
)

// bury closes the connections that were given up, once the calls over them have
// ended.
func (s *Session) bury(m *member) {
	m.mu.Lock()
	retired := m.retired
	m.retired = nil
	m.mu.Unlock()
	for _, c := range retired {
		m.closing.Go(func() {
			select {
			case <-c.idle:
			case <-s.life.Done():
			}
			s.logClosing(m, c.client.Close())
		})
	}
}

// logClosing is for the end of what is given up: it was of no use any more.
func (s *Session) logClosing(m *member, err error) {
	if err != nil {
		s.builder.logger().LogAttrs(m.life, slog.LevelDebug, "closing a connection that was given up failed",
			slog.String(events.KeyBackendID, m.ID), slog.String(events.KeyError, m.hide(err).Error()))
	}
}

// part closes what a member has, after the calls in flight unless the session
// is closed.
func (s *Session) part(m *member) {
	s.bury(m)
	if c := m.current(); c != nil {
		m.mu.Lock()
		c.retire()
		m.mu.Unlock()
		select {
		case <-c.idle:
		case <-s.life.Done():
		}
		if err := c.client.Close(); s.life.Err() == nil {
			s.logClosing(m, err)
		} else if err != nil {
			m.closed = fmt.Errorf("close backend %q: %w", m.ID, m.hide(err))
		}
	}
	m.settle()
	m.closing.Wait()
	m.telling.Lock()
	defer m.telling.Unlock()
	s.shared.instruments.State(context.WithoutCancel(m.life), m.ID, string(m.told.State), "")
	m.told.State = ""
}

// untilThere makes a call once more where its backend left the session, in
// [Session.Apply], before the request was sent: somebody else may have what it is
// about by now. The call returns the backend that it went to, if any.
func untilThere[Res any](s *Session, call func() (*member, *Res, error)) (*Res, error) {
	for {
		to, result, err := call()
		_, unavailable := errors.AsType[*UnavailableError](err)
		if !unavailable || to == nil || to.life.Err() == nil || s.life.Err() != nil {
			return result, err
		}
	}
}
