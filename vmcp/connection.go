package vmcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/sony/gobreaker/v2"
)

// connection is one client of a backend, from its opening until it is lost. A
// backend that comes back has another one, so that what is still heard from
// the old one says nothing about the new one.
type connection struct {
	client  *mcpclient.Client
	server  *mcp.InitializeResult // the handshake
	session bool                  // the server gave it a session, which it may forget
	renewal bool                  // it took the place of one whose session was forgotten
	opened  time.Time
	gone    <-chan struct{} // closed when it has ended by itself; nil where only a request can tell
	breaker *gobreaker.CircuitBreaker[any]

	stream context.Context // ends with the event stream that answers come over; nil where there is none

	life context.Context // ends when it is lost, for what the session itself asks over it
	end  context.CancelFunc

	heard    atomic.Int64 // when the last answer came, in Unix nanoseconds
	answered atomic.Bool  // whether any came since it was opened

	// Guarded by the member's mutex.
	told  wish          // what it was told of what is wanted
	calls int           // in flight
	over  bool          // it gets no more calls
	idle  chan struct{} // closed when it is over and no call is in flight
}

func newConnection(life context.Context, opened *mcpclient.Client, found discovery, limit Breaker) *connection {
	c := &connection{
		client: opened, server: found.server, stream: found.stream, told: found.told,
		opened: time.Now(), gone: connect.Ended(opened), idle: make(chan struct{}),
	}
	if c.stream != nil {
		c.gone = c.stream.Done()
	}
	if inner, ok := mcpclient.As[*client.Client](opened); ok {
		c.session = inner.GetSessionId() != "" && !mcp.IsModernProtocol(c.server.ProtocolVersion)
	}
	c.life, c.end = context.WithCancel(life)
	c.breaker = newBreaker(limit, c.counts)
	c.heard.Store(c.opened.UnixNano())
	return c
}

// do runs a request, which the breaker counts.
func (c *connection) do(ctx context.Context, request func(context.Context, *mcpclient.Client) error) error {
	if err := ctx.Err(); err != nil { // nothing would be sent: that says nothing about the backend
		return err
	}
	_, err := c.breaker.Execute(func() (any, error) {
		ctx, done := c.bound(ctx)
		defer done()
		if err := request(ctx, c.client); err != nil {
			return nil, c.explained(err)
		}
		return nil, nil
	})
	if !c.counts(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, gobreaker.ErrOpenState) {
		c.heard.Store(time.Now().UnixNano())
		c.answered.Store(true)
	}
	return err
}

// bound ends a request with the stream that its answer would come over: mcp-go
// v1.2.1 would let it wait.
func (c *connection) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.stream == nil {
		return ctx, func() {}
	}
	return either(ctx, c.stream)
}

// explained says so if the end of the stream was why a request failed.
func (c *connection) explained(err error) error {
	if c.stream != nil && c.stream.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(c.stream)
	}
	return err
}

// streamOf returns a context that ends with the event stream of a client, which
// is what the older transport of HTTP has for the end of a process; nil where
// there is none. It must be called while the stream is sure to be there.
func streamOf(target connect.Target, opening *mcpclient.Client) context.Context {
	inner, ok := mcpclient.As[*client.Client](opening)
	if _, streams := target.(connect.SSE); !ok || !streams {
		return nil
	}
	stream, end := context.WithCancelCause(context.Background())
	inner.OnConnectionLost(func(err error) {
		end(transport.NewError(fmt.Errorf("the event stream has ended: %w", errors.Join(transport.ErrTransportClosed, err))))
	})
	return stream
}

// ending says how the connection has ended by itself.
func (c *connection) ending() error {
	if c.stream != nil {
		return context.Cause(c.stream)
	}
	return transport.NewError(fmt.Errorf("the process has ended: %w", transport.ErrTransportClosed))
}

// broken says whether too many requests in a row have failed.
func (c *connection) broken() bool { return c.breaker.State() != gobreaker.StateClosed }

// forgotten says whether the server no longer knows the session.
func (c *connection) forgotten(err error) bool {
	return c.session && errors.Is(err, transport.ErrSessionTerminated)
}

// hasEnded says whether an error is the end of a connection, over which nothing
// will come any more: a process or a stream that is closed, a port where nobody
// listens.
func hasEnded(err error) bool {
	return errors.Is(err, transport.ErrTransportClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}

// release gives back what reach took. The member's mutex is held.
func (c *connection) release() {
	c.calls--
	c.settle()
}

// retire says that no more calls come. The member's mutex is held.
func (c *connection) retire() {
	c.over = true
	c.end()
	c.settle()
}

func (c *connection) settle() {
	if c.over && c.calls == 0 {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
}
