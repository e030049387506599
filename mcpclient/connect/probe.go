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
	unanswered atomic.Bool // the server let the time for it pass
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
func (p *probe) RecordError(err error) {
	p.unanswered.Store(errors.Is(err, context.DeadlineExceeded))
}
