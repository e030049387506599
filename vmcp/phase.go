package vmcp

import (
	"time"

	"github.com/mcp-candor/candor/mcpclient/failure"
)

// opened takes a new connection into use, and says whether its lists differ
// from those before.
func (m *member) opened(c *connection, found inventory) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.renewal = m.phase == renewing
	if !c.renewal {
		m.since = time.Now()
	}
	m.conn, m.err, m.nextTry, m.attempts = c, nil, time.Time{}, 0
	m.enter(up)
	return m.take(found, time.Now(), m.builder.staleFor())
}

// attemptFailed takes down why an attempt was in vain, and when the next one is.
func (m *member) attemptFailed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts++
	m.fall(err)
}

// lose gives a connection up that is of no use any more. Of one that has been
// given up already nothing changes.
func (m *member) lose(c *connection, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != c || m.life.Err() != nil {
		return
	}
	m.conn = nil
	c.lost = c.consequence(failure.Of(cause)) == failure.Renew
	c.retire()
	m.retired = append(m.retired, c)
	if time.Since(c.opened) >= m.stage.delays.longest() {
		m.stage.delays.reset() // it was no flash in the pan
	}
	if c.lost && !m.hopeless(c) {
		m.enter(renewing)
	} else {
		m.fall(cause)
	}
	m.poke()
}

// hopeless says whether a new session would be lost as well: this one was new,
// and was lost before it served anything.
func (m *member) hopeless(c *connection) bool {
	return c.renewal && !c.answered.Load() && time.Since(c.opened) < m.stage.delays.longest()
}

// fall enters down. The mutex is held.
func (m *member) fall(cause error) {
	now := time.Now()
	if m.phase != down {
		m.since = now
	}
	if m.listed {
		m.age(now)
	}
	m.err, m.stale, m.nextTry = m.hide(cause), nil, now.Add(m.stage.delays.after(cause))
	m.enter(down)
}

// enter changes the phase and lets those go on who wait for that. The mutex is
// held.
func (m *member) enter(p phase) {
	m.phase = p
	close(m.moved)
	m.moved = make(chan struct{})
}
