package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcp-candor/candor/vmcp"
)

// Apply makes these the backends of the sessions that there are, side by side,
// touching only those that changed, and of all that will be. It fails with
// [vmcp.ErrBackends] if they are invalid, and changes nothing then, with the
// error of ctx, and with those of sessions that keep the backends that they
// had.
func (g *Gateway) Apply(ctx context.Context, backends []vmcp.Backend) error {
	if err := vmcp.Validate(backends); err != nil {
		return err
	}
	select { // one after the other: the last to begin must be the last to end
	case g.applying <- struct{}{}:
		defer func() { <-g.applying }()
	case <-ctx.Done():
		return fmt.Errorf("interrupted while the backends were changed already: %w", ctx.Err())
	}
	sessions := g.adopt(backends)
	failures := make([]error, len(sessions))
	var applying sync.WaitGroup
	for i, c := range sessions {
		applying.Go(func() { failures[i] = c.apply(ctx, backends) })
	}
	applying.Wait()
	return errors.Join(failures...)
}

// adopt takes the backends over and returns the callers that do not have them.
// They are released after that.
func (g *Gateway) adopt(backends []vmcp.Backend) []*caller {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.backends = backends
	var sessions []*caller
	for _, c := range g.callers {
		c.use(1)
		sessions = append(sessions, c)
	}
	return sessions
}

// apply changes the backends of one session. One that does not come about has
// nothing to change: the next attempt has the new ones.
func (c *caller) apply(ctx context.Context, backends []vmcp.Backend) error {
	defer c.release()
	err := c.wait(ctx)
	switch {
	case err == nil:
		return c.session.Apply(ctx, backends)
	case ctx.Err() != nil:
		return err
	default:
		return nil
	}
}
