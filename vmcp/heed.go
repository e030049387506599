package vmcp

import "github.com/mark3labs/mcp-go/mcp"

// heed deals with what the backend says unasked: it takes down that a list
// changed, and hands the rest on.
func (m *member) heed(notification mcp.JSONRPCNotification) {
	switch mcp.MCPMethod(notification.Method) {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged:
		m.mayHaveChanged()
		return
	case mcp.MethodNotificationProgress:
		if m.calls.progress(notification) {
			return
		}
	case mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MethodNotificationCancelled:
		return // between the backend and its client only
	}
	m.shared.handOn(m.ID, handedOn(notification))
}
