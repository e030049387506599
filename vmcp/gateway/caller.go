package gateway

import (
	"context"
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
	rounds  *rounds

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
		rounds: newRounds(), topics: map[string]*topic{},
		clients: map[*endpoint.Client]bool{}, logging: map[*endpoint.Request]bool{},
	}
}

// errShut is what a caller is told that comes too late.
var errShut = &endpoint.Failure{Code: http.StatusServiceUnavailable, Message: "the gateway is shutting down; try again later"}

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
