package endpoint

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
)

// load is what an endpoint is serving, and whether it still takes more.
type load struct {
	calls, streams chan struct{}   // one for each request or stream that is being served
	ending         context.Context // open streams end with it
	endStreams     context.CancelFunc
	life           context.Context // everything ends with it
	endAll         context.CancelFunc
	serving        lifetime.Group // requests, and what runs beside them
}

// bound makes that much room.
func (l *load) bound(calls, streams int) {
	l.calls, l.streams = make(chan struct{}, calls), make(chan struct{}, streams)
	l.ending, l.endStreams = context.WithCancel(context.Background())
	l.life, l.endAll = context.WithCancel(context.Background())
}

// errClosing is what a client is told during a shutdown.
var errClosing = &Failure{Code: overloaded, Message: "the gateway is shutting down; try again later"}

// claim takes one of the slots if there is one left and the endpoint is not
// shut down. The caller gives it back.
func (l *load) claim(slots chan struct{}) error {
	if l.ending.Err() != nil {
		return errClosing
	}
	select {
	case slots <- struct{}{}:
		return nil
	default:
		return &Failure{Code: overloaded, Message: fmt.Sprintf("%d requests are being answered already; try again later", cap(slots))}
	}
}

// enter claims a slot for a request, which a shutdown waits for.
func (l *load) enter(slots chan struct{}) (leave func(), err error) {
	if !l.serving.Enter() {
		return nil, errClosing
	}
	if err := l.claim(slots); err != nil {
		l.serving.Leave()
		return nil, err
	}
	return func() { <-slots; l.serving.Leave() }, nil
}

// turn is a request that is being served.
type turn struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   func() // is called when it is served
}

// admit counts in a request of a connection. It can be cancelled from then on.
func (l *load) admit(ctx context.Context, connection *Client, m *message) (turn, error) {
	slots := l.calls
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		slots = l.streams
	}
	leave, err := l.enter(slots)
	if err != nil {
		return turn{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	remove, err := connection.register(m.ID, cancel)
	if err != nil {
		cancel(err)
		leave()
		return turn{}, err
	}
	stop := context.AfterFunc(l.life, func() { cancel(errClosing) })
	return turn{ctx, cancel, func() { stop(); cancel(nil); remove(); leave() }}, nil
}
