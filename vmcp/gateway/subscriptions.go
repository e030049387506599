package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/vmcp"
	"golang.org/x/sync/errgroup"
)

func (c *call) setLevel() (any, error) {
	var params mcp.SetLevelParams
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if !vmcp.ValidLevel(params.Level) {
		return nil, fmt.Errorf("%w: there is no level %q", mcp.ErrInvalidParams, params.Level)
	}
	c.Client.SetLevel(params.Level)
	return nil, c.said(c.caller.lower(c.outgoing(c.ctx, c.told()), params.Level))
}

func (c *call) subscribe() (any, error) {
	var params mcp.SubscribeParams
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	return nil, c.said(c.caller.watch(c.outgoing(c.ctx, c.told()), c.Client, params.URI))
}

func (c *call) unsubscribe() (any, error) {
	var params mcp.UnsubscribeParams
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	return nil, c.said(c.caller.forgo(c.outgoing(c.ctx, c.told()), c.Client, params.URI))
}

// listen serves a subscriptions/listen. Every list may change one day, since the
// backends may; a resource that cannot be subscribed to is not granted, and the
// acknowledgement says so by leaving it out.
func (c *call) listen() (any, error) {
	var params mcp.SubscriptionsListenParams
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	c.caller.connect(c.Client)
	defer c.caller.disconnect(c.Client)
	granted := params.Notifications
	granted.ResourceSubscriptions = c.watchAll(granted.ResourceSubscriptions)
	return c.Listen(c.ctx, granted)
}

// subscribeTimeout is how long backends may take to accept subscriptions: the
// client waits for the acknowledgement.
const subscribeTimeout = 10 * time.Second

// watchAll subscribes to resources, side by side, and returns those that it
// could.
func (c *call) watchAll(uris []string) []string {
	ctx, cancel := context.WithTimeout(c.ctx, subscribeTimeout)
	defer cancel()
	failures := make([]error, len(uris))
	var group errgroup.Group
	group.SetLimit(16)
	for i, uri := range uris {
		group.Go(func() error {
			failures[i] = c.caller.watch(c.outgoing(ctx, c.told()), c.Client, uri)
			return nil
		})
	}
	_ = group.Wait() // the failures are told apart
	var watched []string
	for i, uri := range uris {
		if failures[i] != nil {
			c.gateway.Logger.InfoContext(ctx, "a subscription is not granted", events.KeyEvent, events.SubscribeFailed, events.KeyError, failures[i].Error())
			continue
		}
		watched = append(watched, uri)
	}
	return watched
}
