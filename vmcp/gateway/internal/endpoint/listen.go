package endpoint

import (
	"context"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
)

var errNoStream = &Failure{Code: mcp.INVALID_REQUEST, Message: "notifications come as an event stream; accept text/event-stream"}

// Listen serves a subscriptions/listen: it acknowledges what of the filter is
// granted and, until ctx ends, hands what is sent with [Client.Notify] to the
// client, as far as it is granted. With nothing granted it returns at once. The
// error is a [*Failure] if the client takes no stream.
//
// Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions.
func (r *Request) Listen(ctx context.Context, granted mcp.SubscriptionFilter) (*mcp.SubscriptionsListenResult, error) {
	if err := r.Client.subscribe(subscription{r, r.id}, granted); err != nil {
		return nil, errNoStream
	}
	defer r.Client.unsubscribe()
	if !granted.IsEmpty() {
		select {
		case <-ctx.Done():
		case <-r.ending:
		}
	}
	result := &mcp.SubscriptionsListenResult{}
	result.EnsureResultMeta().SetSubscriptionID(r.id)
	return result, nil
}

// subscription is a stream that says on each message which request it belongs
// to.
type subscription struct {
	sink
	id any
}

func (s subscription) send(message any) error {
	if n, ok := message.(mcp.JSONRPCNotification); ok {
		meta := maps.Clone(n.Params.Meta)
		if meta == nil {
			meta = map[string]any{}
		}
		meta[mcp.MetaKeySubscriptionID] = s.id
		n.Params.Meta = meta
		message = n
	}
	return s.sink.send(message)
}

// subscribe acknowledges a subscription and makes it the client's. Nothing can
// come in front of the acknowledgement.
func (c *Client) subscribe(to subscription, granted mcp.SubscriptionFilter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := to.send(NewNotification(mcp.MethodNotificationSubscriptionsAcknowledged, map[string]any{"notifications": granted}))
	if err == nil {
		c.out, c.wants = to, &granted
	}
	return err
}

func (c *Client) unsubscribe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wants = &mcp.SubscriptionFilter{}
}
