package vmcp

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/mcp-candor/candor/events"
)

// supervise is the life of a member, until the session ends or it has to leave.
// The error is that of closing its last connection with the session.
func (m *member) supervise() error {
	for m.life.Err() == nil {
		m.stands(m)
		m.bury()
		if next := m.next(); m.rest(next) {
			next.do()
		}
	}
	return m.part()
}

// step is what the supervisor does next, if anything, and when; at once if at
// is zero.
type step struct {
	at time.Time
	do func()
}

// next returns the step that is due first. Until the member is admitted a
// failure is left as it is.
func (m *member) next() step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == joining || m.phase == renewing {
		return step{time.Time{}, m.attempt}
	}
	var first step
	consider := func(at time.Time, do func()) {
		if !at.IsZero() && (first.do == nil || at.Before(first.at)) {
			first = step{at, do}
		}
	}
	if !m.staleSince.IsZero() && !m.expired {
		consider(m.staleSince.Add(m.builder.staleFor()), m.expire)
	}
	if m.phase == down {
		if m.admitted.Load() {
			consider(m.nextTry, m.attempt)
		}
		return first
	}
	if m.differs() {
		return step{time.Time{}, m.reconcile}
	}
	consider(m.refreshAt, m.refreshNow)
	consider(m.probeAt(m.builder.ProbeEvery), m.probeNow)
	return first
}

// rest waits until a step is due, and says so; it returns before when something
// happens that the supervisor should look at.
func (m *member) rest(before step) (due bool) {
	if m.life.Err() != nil {
		return false
	}
	var ready <-chan time.Time
	if before.do != nil {
		timer := time.NewTimer(time.Until(before.at))
		defer timer.Stop()
		ready = timer.C
	}
	c := m.current()
	select {
	case <-ready:
		return true
	case <-m.wake:
	case <-m.life.Done():
	case <-c.ended():
		m.lose(c, c.ending())
	}
	return false
}

// bury closes the connections that were given up, once the requests over them
// have ended.
func (m *member) bury() {
	m.mu.Lock()
	retired := m.retired
	m.retired = nil
	m.mu.Unlock()
	for _, c := range retired {
		m.closing.Go(func() {
			select {
			case <-c.idle:
			case <-m.session.Done():
			}
			m.logClosing(c.client.Close())
		})
	}
}

// logClosing is for the end of what is given up: it was of no use any more.
func (m *member) logClosing(err error) {
	if err != nil {
		m.log.LogAttrs(m.life, slog.LevelDebug, "closing a connection that was given up failed", slog.String(events.KeyError, m.hide(err).Error()))
	}
}

// part closes what the member has, after the requests in flight unless the
// session is closed.
func (m *member) part() (err error) {
	m.bury()
	if c := m.current(); c != nil {
		m.mu.Lock()
		c.retire()
		m.mu.Unlock()
		select {
		case <-c.idle:
		case <-m.session.Done():
		}
		if closing := c.client.Close(); m.session.Err() == nil {
			m.logClosing(closing)
		} else if closing != nil {
			err = fmt.Errorf("close backend %q: %w", m.ID, m.hide(closing))
		}
	}
	m.settle()
	m.closing.Wait()
	return err
}
