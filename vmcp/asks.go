package vmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
)

// Asks is what backends are told that they may ask the caller for, in their
// handshake. Who is asked is the [Peer] of the call that the backend asks for,
// as far as that is known: on protocol 2026-07-28, and over HTTP where the
// question comes in the answer to the call. Else it is the peer of the call to
// that backend that began last, among those still in flight that can answer and
// are not [Peer.Away].
type Asks struct {
	Sampling, Elicitation, Roots bool
}

// ErrNoPeer says that a backend asked for something that nobody who is calling
// it at the moment can answer. It is [mcp.ErrMethodNotFound] too.
var ErrNoPeer = errors.New("vmcp: no caller who could answer")

// options register the member for what may be asked, and for nothing else.
func (a Asks) options(m *member) []client.ClientOption {
	var opts []client.ClientOption
	if a.Sampling {
		opts = append(opts, client.WithSamplingHandler(m))
	}
	if a.Elicitation {
		opts = append(opts, client.WithElicitationHandler(m))
	}
	if a.Roots {
		opts = append(opts, client.WithRootsHandler(m))
	}
	return opts
}

// CreateMessage passes a backend's request for a sampling on.
func (m *member) CreateMessage(ctx context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	ctx, peer, done, err := m.asked(ctx, mcp.MethodSamplingCreateMessage, func(p *Peer) bool { return p.Sampling != nil })
	if err != nil {
		return nil, err
	}
	defer done()
	return peer.Sampling.CreateMessage(ctx, request)
}

// Elicit passes a backend's request for an elicitation on.
func (m *member) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	ctx, peer, done, err := m.asked(ctx, mcp.MethodElicitationCreate, func(p *Peer) bool { return p.Elicitation != nil })
	if err != nil {
		return nil, err
	}
	defer done()
	return peer.Elicitation.Elicit(ctx, request)
}

// ListRoots passes a backend's request for the roots on.
func (m *member) ListRoots(ctx context.Context, request mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	ctx, peer, done, err := m.asked(ctx, mcp.MethodListRoots, func(p *Peer) bool { return p.Roots != nil })
	if err != nil {
		return nil, err
	}
	defer done()
	return peer.Roots.ListRoots(ctx, request)
}

// asked returns who answers, and a context for that, which ends with that one's
// call as well as with ctx.
func (m *member) asked(ctx context.Context, method mcp.MCPMethod, can func(*Peer) bool) (context.Context, *Peer, context.CancelFunc, error) {
	call, answered, ok := m.calls.asking(ctx, can)
	if !ok {
		return nil, nil, nil, fmt.Errorf("%w %s is calling backend %q: %w", ErrNoPeer, method, m.ID, mcp.ErrMethodNotFound)
	}
	within, cancel := lifetime.Either(call.ctx, ctx)
	return within, call.peer, func() { cancel(); answered() }, nil
}
