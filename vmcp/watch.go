package vmcp

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A backend's notifications are collected for a while before its lists are
// asked for again. A server that notifies and has changed nothing, as some do
// whenever they are asked for a list, has to wait longer each time.
const (
	shortestSettling = 300 * time.Millisecond
	longestSettling  = 30 * time.Second
)

// settling is how long notifications are collected.
type settling struct {
	next time.Duration
	last time.Time // when the last refresh for a notification ended
}

// begin returns how long to wait after the first notification.
func (s *settling) begin() time.Duration {
	if s.next == 0 || time.Since(s.last) > longestSettling {
		s.next = shortestSettling
	}
	return s.next
}

// end takes down what came of it.
func (s *settling) end(changed bool) {
	s.last = time.Now()
	s.next = min(2*s.next, longestSettling)
	if changed {
		s.next = shortestSettling
	}
}

// notified takes down that a list changed, and hands the rest on.
func (m *member) notified(notification mcp.JSONRPCNotification) {
	switch notification.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged:
		m.mayHaveChanged()
	default:
		m.passOn(notification)
	}
}

// mayHaveChanged has the lists asked for again, after a while. It never blocks
// for long.
func (m *member) mayHaveChanged() {
	m.mu.Lock()
	defer m.mu.Unlock()
	due := time.Now().Add(m.settling.begin())
	if m.refreshAt.IsZero() || due.Before(m.refreshAt) { // else a refresh is still to come
		m.refreshAt = due
		m.poke()
	}
}

// refreshNow asks for the lists again. A change that is notified meanwhile leads
// to another refresh.
func (s *Session) refreshNow(m *member) {
	m.mu.Lock()
	m.refreshAt = time.Time{}
	c := m.conn
	m.mu.Unlock()
	if c == nil {
		return
	}
	changed, _ := s.refresh(c.life, m) // the report and the log have the error
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settling.end(changed)
}
