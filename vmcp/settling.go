package vmcp

import "time"

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
