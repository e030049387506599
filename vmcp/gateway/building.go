package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// caller returns who a key stands for, with a session. The first to ask builds
// it; it outlives their ctx. The caller of this function calls release.
func (g *Gateway) caller(ctx context.Context, k key) (*caller, error) {
	c, err := g.claim(k)
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// claim returns who a key stands for, and has its session built if nobody has.
func (g *Gateway) claim(k key) (*caller, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.callers[k]
	if !ok {
		if len(g.callers) >= g.Sessions && !g.makeRoom() {
			return nil, &endpoint.Failure{Code: http.StatusServiceUnavailable, Message: fmt.Sprintf("there are %d sessions already; try again later", g.Sessions)}
		}
		c = newCaller(g, k)
		backends := g.backends
		if !g.running.Go(func() { c.build(backends) }) {
			return nil, errShut
		}
		g.callers[k] = c
		g.Observer.SetSessions(len(g.callers))
	}
	c.use(1)
	return c, nil
}

func (c *caller) build(backends []vmcp.Backend) {
	defer close(c.built)
	builder := *c.gateway.builder
	builder.Asks = c.key.asks
	c.session, c.err = builder.Build(c.gateway.life, backends)
	if c.err != nil {
		if failed, ok := errors.AsType[*vmcp.BuildError](c.err); ok {
			c.gateway.Observer.Set(failed.Report)
		}
		c.gateway.forget(c) // the next request tries again
		return
	}
	c.session.OnChange(c.tellChanges)
	c.session.OnState(c.tellState)
	c.session.OnNotification(c.tell)
	c.gateway.Observer.Set(c.session.Report())
}
