package endpoint

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// wants says whether a client wants a notification; one without a filter wants
// all.
func wants(filter *mcp.SubscriptionFilter, n mcp.JSONRPCNotification) bool {
	if filter == nil {
		return true
	}
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged:
		return filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return filter.ResourcesListChanged
	case mcp.MethodNotificationResourceUpdated:
		uri, _ := n.Params.AdditionalFields["uri"].(string)
		return slices.Contains(filter.ResourceSubscriptions, uri)
	default:
		return false
	}
}
