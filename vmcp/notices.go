package vmcp

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// OnNotification makes the session call f for what a backend tells unasked: log
// messages, updated resources, progress that no call here asked for, and
// whatever else, but not for changed lists, which lead to [Session.OnChange]. What the
// protocol says about the connection to the backend has been taken out of its
// _meta. f is called on the goroutine that reads from the backend, in the order
// in which the backend told it, and must not block.
func (s *Session) OnNotification(f func(backendID string, n mcp.JSONRPCNotification)) {
	s.shared.add(f)
}

func (s *shared) add(f func(string, mcp.JSONRPCNotification)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(slices.Clip(s.heard), f)
}

func (s *shared) tell(backendID string, n mcp.JSONRPCNotification) {
	s.mu.Lock()
	heard := s.heard
	s.mu.Unlock()
	for _, f := range heard {
		f(backendID, n)
	}
}

// passOn hands on what a backend says that is not about its lists.
func (m *member) passOn(notification mcp.JSONRPCNotification) {
	switch mcp.MCPMethod(notification.Method) {
	case mcp.MethodNotificationProgress:
		if m.calls.progress(notification) {
			return
		}
	case mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MethodNotificationCancelled:
		return // between the backend and its client only
	}
	m.shared.tell(m.ID, handedOn(notification))
}

// handedOn takes what is about the connection to the backend out of the _meta.
func handedOn(notification mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	var kept map[string]any
	for key, value := range notification.Params.Meta {
		if IsHop(key) {
			continue
		}
		if kept == nil {
			kept = map[string]any{}
		}
		kept[key] = value
	}
	notification.Params.Meta = kept
	return notification
}
