package vmcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
)

// differs says whether something is desired that was not applied to the
// connection, as while it was being opened. The mutex is held.
func (m *member) differs() bool {
	return m.conn != nil && !m.shared.isClaimed() && !m.conn.applied.equal(m.shared.desiredOf(m.ID))
}

// reconcile applies what is desired to the connection.
func (m *member) reconcile() {
	m.mu.Lock()
	c := m.conn
	if c == nil {
		m.mu.Unlock()
		return
	}
	applied, wanted := c.applied, m.shared.desiredOf(m.ID)
	c.applied = wanted // once, whatever comes of it
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.life, m.timeout())
	defer cancel()
	_, _ = m.do(ctx, func(ctx context.Context, client *mcpclient.Client) error { // what failed is in the log
		return m.apply(ctx, client, c.server, applied, wanted)
	})
}

// apply tells a connection what is wanted and was not applied yet. That this
// fails does not cost the caller the backend.
func (m *member) apply(ctx context.Context, client *mcpclient.Client, server *mcp.InitializeResult, applied, wanted desired) error {
	var failures []error
	tell := func(what string, request func(context.Context) error) {
		if err := exactly(ctx, request); err != nil {
			failures = append(failures, err)
			m.log.LogAttrs(ctx, slog.LevelWarn, "the backend did not take "+what,
				slog.String(events.KeyEvent, events.RestoreFailed), slog.String(events.KeyReason, reasonOf(m.hide(err))))
		}
	}
	if wanted.level != applied.level && capability.Logging.In(server.Capabilities) {
		tell("the logging level again", func(ctx context.Context) error {
			return client.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: wanted.level}})
		})
	}
	for _, uri := range wanted.without(applied) {
		tell("a subscription again", func(ctx context.Context) error {
			return client.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}})
		})
	}
	for _, uri := range applied.without(wanted) {
		tell("the end of a subscription", func(ctx context.Context) error {
			return client.Unsubscribe(ctx, mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri}})
		})
	}
	return errors.Join(failures...)
}

// claimLevel says whether the backend is there and logs, so that it can be told a
// level now; the supervisor leaves it to who asks.
func (m *member) claimLevel(level mcp.LoggingLevel) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil || !capability.Logging.In(m.conn.server.Capabilities) {
		return false
	}
	m.conn.applied.level = level
	return true
}

// subscribed takes down that a client of the backend was told to subscribe.
func (m *member) subscribed(uri string, told *mcpclient.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared.subscribe(m.ID, uri)
	if m.conn != nil && m.conn.client == told {
		m.conn.applied.uris = append(m.conn.applied.uris, uri)
	}
}

// unsubscribed takes down that the resource is not wanted any more, and says
// whether it was.
func (m *member) unsubscribed(uri string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.applied.uris = slices.DeleteFunc(slices.Clone(m.conn.applied.uris), func(u string) bool { return u == uri })
	}
	return m.shared.unsubscribe(m.ID, uri)
}
