package vmcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/sony/gobreaker/v2"
)

// connection is one client of a backend, from its opening until it is lost. A
// backend that comes back has another one, so that what is still heard from
// the old one says nothing about the new one.
type connection struct {
	client  *mcpclient.Client
	server  *mcp.InitializeResult // the handshake
	session bool                  // the server gave it a session, which it may lose
	renewal bool                  // it took the place of one whose session was lost
	opened  time.Time
	gone    <-chan struct{} // closed when it has ended by itself; nil where only a request can tell
	breaker *gobreaker.TwoStepCircuitBreaker[any]
	limit   int // of failures in a row

	stream context.Context // ends with the event stream that answers come over; nil where there is none

	life context.Context // ends when it is lost, for what the member itself asks over it
	end  context.CancelFunc

	heard    atomic.Int64 // when the last answer came, in Unix nanoseconds
	answered atomic.Bool  // whether any came since it was opened

	// Guarded by the member's mutex.
	applied desired       // what it was told of what is desired
	calls   int           // in flight
	over    bool          // it gets no more calls
	idle    chan struct{} // closed when it is over and no call is in flight
	lost    bool          // it is over since the server lost the session
	alive   bool          // the last experiment was made over it, and answered
}

func newConnection(life context.Context, opened *mcpclient.Client, found discovery, limit Breaker) *connection {
	c := &connection{
		client: opened, server: found.server, stream: found.stream, applied: found.applied,
		opened: time.Now(), gone: connect.Ended(opened), idle: make(chan struct{}),
	}
	if c.stream != nil {
		c.gone = c.stream.Done()
	}
	if inner, ok := mcpclient.As[*client.Client](opened); ok {
		c.session = inner.GetSessionId() != "" && !mcp.IsModernProtocol(c.server.ProtocolVersion)
	}
	c.life, c.end = context.WithCancel(life)
	c.breaker, c.limit = newBreaker(limit, c.counts), limit.failures()
	c.heard.Store(c.opened.UnixNano())
	return c
}

// method is one of the client's.
type method[Req, Res any] = func(*mcpclient.Client, context.Context, Req) (*Res, error)

// send does one request, which the breaker counts.
func send[Req, Res any](ctx context.Context, c *connection, call method[Req, Res], request Req) (*Res, error) {
	ctx, end, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	ctx, answer := withAnswer(ctx, c.server, request)
	result, err := call(c.client, ctx, request)
	if err = end(answer.exact(err)); err != nil {
		return nil, err
	}
	answer.complete(result)
	return result, nil
}

// do does what may be several requests, each of which makes its error exact, and
// counts as one.
func (c *connection) do(ctx context.Context, ask func(context.Context, *mcpclient.Client) error) error {
	ctx, end, err := c.begin(ctx)
	if err != nil {
		return err
	}
	return end(ask(ctx, c.client))
}

// begin returns what to make a request with, and what to end it with, which
// returns why it failed. It fails where nothing may be sent.
func (c *connection) begin(ctx context.Context) (context.Context, func(error) error, error) {
	if err := ctx.Err(); err != nil { // that says nothing about the backend
		return nil, nil, err
	}
	count, err := c.breaker.Allow()
	if err != nil { // since just now
		return nil, nil, trippedError{c.limit}
	}
	ctx, release := c.bound(ctx)
	return ctx, func(err error) error {
		err = c.explained(err)
		release()
		count(err)
		c.hear(err)
		return err
	}, nil
}

// hear takes down that an answer came, if it is one.
func (c *connection) hear(err error) {
	if read := failure.Of(err); read.Answered() && read.Consequence() == failure.Keep {
		c.heard.Store(time.Now().UnixNano())
		c.answered.Store(true)
	}
}

// bound ends a request with the stream that its answer would come over: mcp-go
// v1.2.1 would let it wait.
func (c *connection) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.stream == nil {
		return ctx, func() {}
	}
	return lifetime.Either(ctx, c.stream)
}

// explained says so if the end of the stream was why a request failed.
func (c *connection) explained(err error) error {
	if err != nil && c.stream != nil && c.stream.Err() != nil && failure.Of(err).Kind == failure.Cancelled {
		return context.Cause(c.stream)
	}
	return err
}

// consequence is that of a failure for this connection: one without a session has
// none that could be lost.
func (c *connection) consequence(read failure.Failure) failure.Consequence {
	if consequence := read.Consequence(); consequence != failure.Renew || c.session {
		return consequence
	}
	return failure.Count
}

// counts says whether a request failed for want of an answer.
func (c *connection) counts(err error) bool {
	switch c.consequence(failure.Of(err)) {
	case failure.Count, failure.Fail:
		return true
	default:
		return false
	}
}

// tripped says whether too many requests in a row have failed.
func (c *connection) tripped() bool { return c.breaker.State() != gobreaker.StateClosed }

// ended is closed when the connection has ended by itself.
func (c *connection) ended() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.gone
}

// ending is why it has ended by itself.
func (c *connection) ending() error {
	if c.stream != nil {
		return context.Cause(c.stream)
	}
	return transport.NewError(fmt.Errorf("the process has ended: %w", transport.ErrTransportClosed))
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

// discovery is what comes of verifying a connection.
type discovery struct {
	inventory
	server  *mcp.InitializeResult // the handshake
	stream  context.Context       // as in [connection]
	applied desired
}
