package connect

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/tracing"
)

// probe watches server/discover, whose outcome mcp-go's client keeps to itself
// and tells its tracer only.
type probe struct {
	tracing.Span
	failure atomic.Pointer[error]
}

func newProbe() *probe {
	return &probe{Span: tracing.SpanFromContext(context.Background())} // one that records nothing
}

// Start watches the one request and no other.
func (p *probe) Start(ctx context.Context, name string, _ tracing.SpanKind, _ ...tracing.Attribute) (context.Context, tracing.Span) {
	if name == "mcp."+string(mcp.MethodServerDiscover) {
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
// sends after it.
func (p *probe) reason(err error) error {
	if failure := p.failure.Load(); failure != nil && isUnauthorized(*failure) {
		return *failure
	}
	return err
}
