package connect_test

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/connect"
)

// counted counts the connections to a target, and which of them are open.
type counted struct {
	connect.Target
	dials, open atomic.Int64
	life        atomic.Pointer[context.Context] // that the last one was started with
}

// Dial passes on a transport that must have no methods beyond the interface.
func (c *counted) Dial(ctx context.Context) (transport.Interface, error) {
	t, err := c.Target.Dial(ctx)
	c.dials.Add(1)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &countedTransport{Interface: t, target: c}, nil
}

type countedTransport struct {
	transport.Interface
	target *counted
	once   sync.Once
}

func (t *countedTransport) Start(ctx context.Context) error {
	t.target.life.Store(&ctx)
	return t.Interface.Start(ctx)
}

func (t *countedTransport) Close() error {
	t.once.Do(func() { t.target.open.Add(-1) })
	return t.Interface.Close()
}

// dialed counts the connections to a target and leaves its transport alone.
type dialed struct {
	connect.Target
	dials atomic.Int64
}

func (d *dialed) Dial(ctx context.Context) (transport.Interface, error) {
	d.dials.Add(1)
	return d.Target.Dial(ctx)
}

// String names the target as the target does.
func (d *dialed) String() string { return connect.To(d.Target).String() }
