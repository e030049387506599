package connect

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// connection is mcp-go's client with a life of its own: the process and the
// event stream that it starts live until it is closed, not until the context
// that it was opened with ends.
type connection struct {
	*client.Client
	probe     *probe
	transport transport.Interface
	end       context.CancelFunc
	listener  *listener // nil if it does not listen, or the transport does
}

func newConnection(t transport.Interface, pinned string, options ...client.ClientOption) *connection {
	watched := newProbe(pinned)
	return &connection{
		Client:    client.NewClient(t, append(options, client.WithTracer(watched))...),
		probe:     watched,
		transport: t,
	}
}

// Unwrap lets mcpclient.As find mcp-go's client.
func (c *connection) Unwrap() client.MCPClient { return c.Client }

// start gives up when ctx ends, and only then does ctx matter.
func (c *connection) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c.end = end
	stop := context.AfterFunc(ctx, end)
	err := c.Start(life)
	if !stop() {
		return ctx.Err() // not that of life, which was only told to end
	}
	return err
}

// Close ends the session and what start began.
func (c *connection) Close() error {
	if c.end != nil {
		defer c.end()
	}
	if c.listener != nil {
		c.listener.close()
		defer c.listener.await()
	}
	return c.Client.Close()
}

// Subscribe waits, where there is a stream, until it has the resource: mcp-go's
// client only remembers it there, for the next stream.
func (c *connection) Subscribe(ctx context.Context, request mcp.SubscribeRequest) error {
	if c.listener != nil {
		return c.listener.subscribe(ctx, request.Params.URI)
	}
	return c.Client.Subscribe(ctx, request)
}

// Unsubscribe takes the resource out of the stream, where there is one.
func (c *connection) Unsubscribe(ctx context.Context, request mcp.UnsubscribeRequest) error {
	if c.listener != nil {
		c.listener.unsubscribe(request.Params.URI)
		return nil
	}
	return c.Client.Unsubscribe(ctx, request)
}

// parting is how much longer than its context an opening that failed may take
// to part from the server properly.
const parting = 250 * time.Millisecond

// bounded runs the closing of a failed opening: a server that does not heed it
// must not cost the caller the seconds that mcp-go gives one.
func (c *connection) bounded(ctx context.Context, closing func() error) error {
	closed := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-closed:
			return
		case <-ctx.Done():
		}
		timer := time.NewTimer(parting)
		defer timer.Stop()
		select {
		case <-closed:
		case <-timer.C:
			c.abandon()
		}
	})
	defer watching.Wait()
	defer close(closed)
	return closing()
}

// abandon ends at once what a closing waits for.
func (c *connection) abandon() {
	if c.end != nil {
		c.end()
	}
	if t, ok := c.transport.(interface{ abandon() }); ok {
		t.abandon()
	}
}
