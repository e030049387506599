package connect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/tracing"
)

// probe watches server/discover, whose outcome mcp-go's client keeps to itself
// and tells its tracer only.
type probe struct {
	tracing.Span
	asked   atomic.Bool
	failure atomic.Pointer[error]
}

func newProbe() *probe {
	return &probe{Span: tracing.SpanFromContext(context.Background())} // one that records nothing
}

// Start watches the one request and no other.
func (p *probe) Start(ctx context.Context, name string, _ tracing.SpanKind, _ ...tracing.Attribute) (context.Context, tracing.Span) {
	if name == "mcp."+string(mcp.MethodServerDiscover) {
		p.asked.Store(true)
		return ctx, p
	}
	return ctx, p.Span
}

// RecordError learns why the request failed.
func (p *probe) RecordError(err error) { p.failure.Store(&err) }

// unanswered says whether the server let the time for it pass.
func (p *probe) unanswered() bool {
	failure := p.failure.Load()
	return failure != nil && errors.Is(*failure, context.DeadlineExceeded)
}

// reason returns why the handshake failed with err: a server that wanted a
// login at the probe may say something else to the initialize that mcp-go
// sends after it. One that answered the probe and has no initialize speaks the
// newest protocol only, so that its answer to the probe is to blame.
func (p *probe) reason(err error) error {
	failure := p.failure.Load()
	switch {
	case failure != nil && isUnauthorized(*failure):
		return *failure
	case failure == nil && p.asked.Load() && errors.Is(err, mcp.ErrMethodNotFound):
		return fmt.Errorf("the answer to %s cannot be used: it is malformed or has no protocol version in common; and the older handshake: %w", mcp.MethodServerDiscover, err)
	default:
		return err
	}
}
