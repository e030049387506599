package vmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// Probe asks whether a backend is alive, with one request, and returns nil if
// it is. A server that answers ping with -32601 is alive: it answered. On
// protocol 2026-07-28, which has no ping, the first page of the tools is asked
// for, or server/discover where there are none; no list that a server may lack
// is ever a probe. The error is the backend's, or an [*UnknownError].
func (s *Session) Probe(ctx context.Context, id string) error {
	m, err := s.member(id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.listTimeout)
	defer cancel()
	ctx, done := s.bound(ctx)
	defer done()
	if s.life.Err() != nil {
		return ErrClosed
	}
	if err := m.alive(ctx); err != nil {
		return s.blame(m, err)
	}
	return nil
}

func (m *member) alive(ctx context.Context) error {
	if !mcp.IsModernProtocol(m.server.ProtocolVersion) {
		err := m.client.Ping(ctx)
		if errors.Is(err, mcp.ErrMethodNotFound) {
			return nil
		}
		return err
	}
	if m.server.Capabilities.Tools != nil {
		_, err := m.client.ListToolsByPage(ctx, mcp.ListToolsRequest{})
		return err
	}
	// The chain has no such call: it is not part of client.MCPClient.
	inner, ok := mcpclient.As[*client.Client](m.client)
	if !ok {
		return fmt.Errorf("no way to ask a %T whether it is alive", m.client.Unwrap())
	}
	_, err := inner.Discover(ctx, mcp.DiscoverRequest{})
	return err
}
