package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// topic is a resource that connections subscribe to. The session subscribes to
// it once for all of them.
type topic struct {
	turn       chan struct{} // full while a backend is asked about it
	subscribed bool          // guarded by turn

	// Guarded by the caller's mutex:
	clients map[*endpoint.Client]bool
	users   int // who wait for their turn, or have it
}

// watch makes a connection hear of changes to a resource. The first one makes
// the session subscribe to it.
func (c *caller) watch(ctx context.Context, client *endpoint.Client, uri string) error {
	return c.inTurn(ctx, uri, func(t *topic) error {
		c.join(t, client) // first: no change may slip through between
		if t.subscribed {
			return nil
		}
		if err := c.session.Subscribe(ctx, uri); err != nil {
			c.part(t, client)
			return err
		}
		t.subscribed = true
		return nil
	})
}

// forgo makes a connection hear no more of a resource. The last one makes the
// session end its subscription.
func (c *caller) forgo(ctx context.Context, client *endpoint.Client, uri string) error {
	return c.inTurn(ctx, uri, func(t *topic) error {
		if !c.part(t, client) || !t.subscribed {
			return nil
		}
		t.subscribed = false
		err := c.session.Unsubscribe(ctx, uri)
		if _, gone := errors.AsType[*vmcp.UnavailableError](err); gone {
			return nil // and it is not subscribed to again when it comes back
		}
		return err
	})
}

// unwatch tells a backend that nobody wants to hear of a resource any more, if
// that is still so.
func (c *caller) unwatch(uri string) {
	if err := c.forgo(c.gateway.life, nil, uri); err != nil && c.gateway.life.Err() == nil {
		c.gateway.Logger.Warn("a subscription could not be ended", events.KeyEvent, events.UnsubscribeFailed, events.KeyError, err.Error())
	}
}

// inTurn calls f when it is its turn to change what a backend is asked about a
// resource.
func (c *caller) inTurn(ctx context.Context, uri string, f func(*topic) error) error {
	t := c.topic(uri)
	defer c.drop(uri, t)
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return f(t)
}

func (c *caller) topic(uri string) *topic {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.topics[uri]
	if !ok {
		t = &topic{turn: make(chan struct{}, 1), clients: map[*endpoint.Client]bool{}}
		c.topics[uri] = t
	}
	t.users++
	return t
}

func (c *caller) drop(uri string, t *topic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.users--; t.users == 0 && len(t.clients) == 0 && !t.subscribed {
		delete(c.topics, uri)
	}
}

func (c *caller) join(t *topic, client *endpoint.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.clients[client] = true
}

// part says whether nobody is left.
func (c *caller) part(t *topic, client *endpoint.Client) (empty bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(t.clients, client)
	return len(t.clients) == 0
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

// leaveTopics returns the resources that nobody but the client watched.
func (c *caller) leaveTopics(client *endpoint.Client) (unwatched []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uri, t := range c.topics {
		if !t.clients[client] {
			continue
		}
		if delete(t.clients, client); len(t.clients) == 0 {
			unwatched = append(unwatched, uri)
		}
	}
	return unwatched
}

// watching returns who subscribed to a resource, or to one that it is a part of:
// a server may say that of either
// (https://modelcontextprotocol.io/specification/2025-11-25/schema#resourceupdatednotificationparams).
func (c *caller) watching(uri string) map[*endpoint.Client]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	clients := map[*endpoint.Client]bool{}
	for watched, t := range c.topics {
		if uri != watched && !strings.HasPrefix(uri, strings.TrimSuffix(watched, "/")+"/") {
			continue
		}
		for client := range t.clients {
			clients[client] = true
		}
	}
	return clients
}
