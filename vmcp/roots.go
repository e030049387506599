package vmcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// RootsChanged tells the backends that the caller's roots have changed, if they
// were told that they may ask for them. Protocol 2026-07-28 has no such
// notification, and a backend that is not there asks for them when it comes back.
// The error is [ErrClosed], or names each backend that could not be told.
func (s *Session) RootsChanged(ctx context.Context) error {
	if !s.builder.Asks.Roots {
		return nil
	}
	if s.life.Err() != nil {
		return ErrClosed
	}
	older := s.roster.Load().those((*member).wantsRootsChanged)
	failures := make([]error, len(older))
	var telling sync.WaitGroup
	for i, m := range older {
		telling.Go(func() { failures[i] = m.tellRootsChanged(ctx) })
	}
	telling.Wait()
	return errors.Join(failures...)
}

// wantsRootsChanged says whether the backend is there and has the notification.
func (m *member) wantsRootsChanged() bool {
	c := m.current()
	return c != nil && !mcp.IsModernProtocol(c.server.ProtocolVersion)
}

func (m *member) tellRootsChanged(ctx context.Context) error {
	ctx, done := m.bound(ctx)
	defer done()
	_, err := m.do(ctx, func(ctx context.Context, c *mcpclient.Client) error {
		// The chain has no notifications: they are not part of client.MCPClient.
		inner, ok := mcpclient.As[*client.Client](c)
		if !ok {
			return fmt.Errorf("no way to notify over a %T", c.Unwrap())
		}
		return inner.RootListChanges(ctx)
	})
	if _, absent := errors.AsType[*UnavailableError](err); absent || err == nil {
		return nil // one that is not there asks when it is
	}
	return m.blame(ctx, err)
}
