package vmcp

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// calls are those to one backend whose peers it may turn to, the last begun
// last.
type calls struct {
	mu     sync.Mutex
	open   []*call
	issued uint64 // progress tokens
}

// call is one to a backend, for as long as it is in flight.
type call struct {
	ctx   context.Context // ends with it
	stop  context.CancelFunc
	peer  *Peer
	of    *calls
	token mcp.ProgressToken // the caller's, nil if he wants no progress
	ours  string            // instead of his, on the way to the backend

	telling sync.Mutex
	over    bool
}

type callKey struct{}

// begin takes down a call and returns what to make it with: its context, and
// the _meta that goes on to the backend. It must be ended.
func (c *calls) begin(ctx context.Context, meta *mcp.Meta) (context.Context, *mcp.Meta, *call) {
	peer, ok := peerOf(ctx)
	if !ok {
		return ctx, onward(meta, ""), &call{}
	}
	begun := &call{peer: peer, of: c}
	begun.ctx, begun.stop = context.WithCancel(context.WithValue(ctx, callKey{}, begun))
	if meta != nil && peer.Notify != nil {
		begun.token = meta.ProgressToken
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun.token != nil {
		begun.ours = c.issue()
	}
	c.open = append(c.open, begun)
	return begun.ctx, onward(meta, begun.ours), begun
}

// end ends what the backend asked the peer for, and waits for a progress that is
// being told; none is told afterwards.
func (c *call) end() {
	if c.of == nil {
		return
	}
	c.stop()
	c.of.mu.Lock()
	c.of.open = slices.DeleteFunc(c.of.open, func(o *call) bool { return o == c })
	c.of.mu.Unlock()
	c.telling.Lock()
	defer c.telling.Unlock()
	c.over = true
}

// asking returns the call for which a backend asks for something: the one that
// ctx comes from, else the one that began last, among those whose peer can.
func (c *calls) asking(ctx context.Context, can func(*Peer) bool) (*call, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from, ok := ctx.Value(callKey{}).(*call); ok && slices.Contains(c.open, from) {
		return from, can(from.peer)
	}
	for _, open := range slices.Backward(c.open) {
		if can(open.peer) {
			return open, true
		}
	}
	return nil, false
}
