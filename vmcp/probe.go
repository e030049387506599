package vmcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// Probe asks whether a backend is alive, with one request, and returns nil if
// it is. A server that answers ping with -32601 is alive: it answered. On
// protocol 2026-07-28, which has no ping, the first page of the tools is asked
// for, or server/discover where there are none; no list that a server may lack
// is ever a probe. The error is the backend's, an [*UnavailableError] or an
// [*UnknownError].
func (s *Session) Probe(ctx context.Context, id string) error {
	m, err := s.member(id)
	if err != nil {
		return err
	}
	return s.probe(ctx, m)
}

func (s *Session) probe(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeout(ctx, s.builder.timeoutOf(m.Backend))
	defer cancel()
	ctx, done := s.bound(ctx, m)
	defer done()
	_, err := s.over(ctx, m, alive)
	if err != nil {
		return s.blame(m, err)
	}
	return nil
}

// probeNow probes a backend that is still silent.
func (s *Session) probeNow(m *member) {
	m.mu.Lock()
	c, now := m.conn, time.Now()
	silent := c != nil && !m.probeAt(s.builder.ProbeEvery).After(now)
	if silent {
		m.probed = now
	}
	m.mu.Unlock()
	if silent {
		_ = s.probe(c.life, m) // the breaker counts it
	}
}

// probeAt is when a backend of which nothing was heard is probed; zero if never.
// The mutex is held.
func (m *member) probeAt(every time.Duration) time.Time {
	if every <= 0 || m.conn == nil {
		return time.Time{}
	}
	last := time.Unix(0, m.conn.heard.Load())
	if m.probed.After(last) {
		last = m.probed
	}
	return last.Add(every)
}

func alive(ctx context.Context, c *mcpclient.Client) error {
	server, _ := c.Server() // known since the handshake
	if !mcp.IsModernProtocol(server.ProtocolVersion) {
		err := c.Ping(ctx)
		if errors.Is(err, mcp.ErrMethodNotFound) {
			return nil
		}
		return err
	}
	if server.Capabilities.Tools != nil {
		_, err := c.ListToolsByPage(ctx, mcp.ListToolsRequest{})
		return err
	}
	// The chain has no such call: it is not part of client.MCPClient.
	inner, ok := mcpclient.As[*client.Client](c)
	if !ok {
		return fmt.Errorf("no way to ask a %T whether it is alive", c.Unwrap())
	}
	_, err := inner.Discover(ctx, mcp.DiscoverRequest{})
	return err
}
