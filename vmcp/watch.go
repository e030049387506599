package vmcp

import (
	"context"
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

// notified takes down that a list changed. It never blocks.
func (m *member) notified(notification mcp.JSONRPCNotification) {
	switch notification.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged:
		select {
		case m.changed <- struct{}{}:
		default: // a refresh is still to come
		}
	}
}

// watch refreshes a backend when it says that a list changed, until the session
// ends. A change that is notified during a refresh leads to another one.
func (s *Session) watch(m *member) {
	settling := shortestSettling
	for {
		idle := time.Now()
		select {
		case <-m.changed:
		case <-s.life.Done():
			return
		}
		if time.Since(idle) > longestSettling {
			settling = shortestSettling
		}
		if !wait(s.life, settling) {
			return
		}
		select {
		case <-m.changed: // it came while this was waiting
		default:
		}
		changed, _ := s.refresh(s.life, m) // the report and the log have the error
		settling = min(2*settling, longestSettling)
		if changed {
			settling = shortestSettling
		}
	}
}

// wait says whether the time has passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
