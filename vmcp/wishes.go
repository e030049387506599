package vmcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient"
)

// wish is what the callers of a session want of a backend beyond their calls,
// over each of its connections.
type wish struct {
	level mcp.LoggingLevel // "" if nobody set one
	uris  []string         // of the resources that are subscribed to
}

func (w wish) equal(other wish) bool {
	return w.level == other.level && len(w.without(other)) == 0 && len(other.without(w)) == 0
}

// without returns the resources that are not in the other.
func (w wish) without(other wish) []string {
	return slices.DeleteFunc(slices.Clone(w.uris), func(uri string) bool { return slices.Contains(other.uris, uri) })
}

// wishOf returns what is wanted of the backend with an ID.
func (s *shared) wishOf(id string) wish {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wish{s.level, slices.Clone(s.subscribed[id])}
}

// beginLevel sets the level, and keeps the supervisors from telling it until
// claimed is called.
func (s *shared) beginLevel(level mcp.LoggingLevel) (claimed func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
	s.claiming++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.claiming--
	}
}

func (s *shared) isClaiming() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claiming > 0
}

func (s *shared) subscribe(id, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.subscribed[id], uri) {
		s.subscribed[id] = append(s.subscribed[id], uri)
	}
}

// unsubscribe says whether the resource was subscribed to.
func (s *shared) unsubscribe(id, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.subscribed[id])
	s.subscribed[id] = slices.DeleteFunc(s.subscribed[id], func(u string) bool { return u == uri })
	return len(s.subscribed[id]) < before
}

// forget drops the subscriptions to backends that are not among the members.
func (s *shared) forget(members []*member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.subscribed {
		if !slices.ContainsFunc(members, func(m *member) bool { return m.ID == id }) {
			delete(s.subscribed, id)
		}
	}
}

// behind says whether something was wished for that the connection has not been
// told, as while it was being opened. The mutex is held.
func (m *member) behind() bool {
	return m.conn != nil && !m.shared.isClaiming() && !m.conn.told.equal(m.shared.wishOf(m.ID))
}

// catchUp tells the connection what was wished for meanwhile.
func (s *Session) catchUp(m *member) {
	m.mu.Lock()
	c := m.conn
	if c == nil {
		m.mu.Unlock()
		return
	}
	told, wanted := c.told, m.shared.wishOf(m.ID)
	c.told = wanted // once, whatever comes of it
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.life, s.builder.timeoutOf(m.Backend))
	defer cancel()
	_, _ = s.over(ctx, m, func(ctx context.Context, client *mcpclient.Client) error { // what failed is in the log
		return m.fulfil(ctx, client, c.server, told, wanted)
	})
}

// fulfil tells a connection what is wanted and it was not told yet. That this
// fails does not cost the caller the backend.
func (m *member) fulfil(ctx context.Context, client *mcpclient.Client, server *mcp.InitializeResult, told, wanted wish) error {
	var failures []error
	tell := func(what string, err error) {
		if err != nil {
			failures = append(failures, err)
			m.log.LogAttrs(ctx, slog.LevelWarn, "the backend did not take "+what,
				slog.String(events.KeyEvent, events.RestoreFailed), slog.String(events.KeyReason, m.Connector.Mask(err.Error())))
		}
	}
	if wanted.level != told.level && server.Capabilities.Logging != nil {
		tell("the logging level again", client.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: wanted.level}}))
	}
	for _, uri := range wanted.without(told) {
		tell("a subscription again", client.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}}))
	}
	for _, uri := range told.without(wanted) {
		tell("the end of a subscription", client.Unsubscribe(ctx, mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri}}))
	}
	return errors.Join(failures...)
}
