package gateway

import (
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// each calls f for all connections of the caller.
func (c *caller) each(f func(*endpoint.Client)) {
	c.mu.Lock()
	clients := slices.Collect(maps.Keys(c.clients))
	c.mu.Unlock()
	for _, client := range clients {
		f(client)
	}
}

// tellChanges says which lists have changed.
func (c *caller) tellChanges(change vmcp.Change) {
	c.gateway.Observer.Set(c.session.Report())
	for method, changed := range map[string]bool{
		mcp.MethodNotificationToolsListChanged:     change.Tools,
		mcp.MethodNotificationPromptsListChanged:   change.Prompts,
		mcp.MethodNotificationResourcesListChanged: change.Resources || change.ResourceTemplates,
	} {
		if changed {
			c.each(func(client *endpoint.Client) { client.Notify(endpoint.NewNotification(method, nil)) })
		}
	}
}

// tellState says, as a log message, that a backend has failed or is back.
func (c *caller) tellState(backend vmcp.BackendReport) {
	c.gateway.Observer.Update(backend)
	level := mcp.LoggingLevelInfo
	switch backend.State {
	case vmcp.Failed:
		level = mcp.LoggingLevelError
	case vmcp.Degraded:
		level = mcp.LoggingLevelWarning
	}
	c.log(level, endpoint.NewNotification(string(mcp.MethodNotificationMessage), map[string]any{
		"level": level, "logger": "vmcp", "data": map[string]any{
			events.KeyEvent: events.Backend(string(backend.State)), "message": sentence(backend), "backend": backend,
		},
	}))
}

// tell hands on what a backend says outside a call.
func (c *caller) tell(_ string, n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationMessage):
		level, _ := n.Params.AdditionalFields["level"].(string)
		c.log(mcp.LoggingLevel(level), n)
	case mcp.MethodNotificationResourceUpdated:
		uri, _ := n.Params.AdditionalFields["uri"].(string)
		for client := range c.watching(uri) {
			client.Notify(n)
		}
	default:
		c.each(func(client *endpoint.Client) { client.Notify(n) })
	}
}

// log sends a log message to the connections that want its level, and on
// protocol 2026-07-28, where only requests want any, along with their answers.
// One of a level that there is not goes to all of them.
func (c *caller) log(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	sends := func(wanted mcp.LoggingLevel) bool {
		return wanted == "" || !vmcp.ValidLevel(level) || level.ShouldSendTo(wanted)
	}
	c.each(func(client *endpoint.Client) {
		if sends(client.Level()) {
			client.Notify(n)
		}
	})
	c.mu.Lock()
	wanting := slices.Collect(maps.Keys(c.logging))
	c.mu.Unlock()
	for _, request := range wanting {
		if sends(request.Client.Level()) {
			request.Notify(n)
		}
	}
}
