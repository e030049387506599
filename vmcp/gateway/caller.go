package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// key is who a session belongs to: an identity, and what it can be asked for,
// since that is what the backends are told. Its connections share the session.
type key struct {
	identity string
	asks     vmcp.Asks
}

func keyOf(client *endpoint.Client) key {
	can := client.Capabilities()
	return key{client.Identity(), vmcp.Asks{
		Sampling: can.Sampling != nil, Elicitation: can.Elicitation != nil, Roots: can.Roots != nil,
	}}
}

// caller is a session and who uses it.
type caller struct {
	gateway *Gateway
	key     key
	built   chan struct{} // closed when session or err is there
	session *vmcp.Session
	err     error
	rounds  rounds

	leveling chan struct{} // full while the backends are asked for a level

	mu       sync.Mutex
	clients  map[*endpoint.Client]bool
	logging  map[*endpoint.Request]bool // that want log messages
	topics   map[string]*topic
	promised kinds            // that a client was told of
	level    mcp.LoggingLevel // that the backends were asked for
	inUse    int
	lastUsed time.Time
}

func newCaller(g *Gateway, k key) *caller {
	return &caller{
		gateway: g, key: k, built: make(chan struct{}), leveling: make(chan struct{}, 1),
		rounds: rounds{waiting: map[string]*round{}}, topics: map[string]*topic{},
		clients: map[*endpoint.Client]bool{}, logging: map[*endpoint.Request]bool{},
	}
}

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

// errShut is what a caller is told that comes too late.
var errShut = &endpoint.Failure{Code: http.StatusServiceUnavailable, Message: "the gateway is shutting down; try again later"}

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

// wait waits for the session.
func (c *caller) wait(ctx context.Context) error {
	select {
	case <-c.built:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the session was interrupted: %w", ctx.Err())
	}
}

func (c *caller) use(change int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inUse += change
	c.lastUsed = time.Now()
}

func (c *caller) release() { c.use(-1) }

// connect takes down that a client is the caller's.
func (c *caller) connect(client *endpoint.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients[client] = true
}

// disconnect forgets a client, and what only it subscribed to.
func (c *caller) disconnect(client *endpoint.Client) {
	c.mu.Lock()
	delete(c.clients, client)
	c.mu.Unlock()
	for _, uri := range c.leaveTopics(client) {
		c.gateway.running.Go(func() { c.unwatch(uri) })
	}
}

// used says when a request last began or ended.
func (c *caller) used() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastUsed
}

// idle says whether nobody has used the session for that long. A connected
// client uses it: it may have subscribed to something, and the endpoint ends
// those that are idle.
func (c *caller) idle(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inUse == 0 && len(c.clients) == 0 && now.Sub(c.lastUsed) >= limit
}
