package connect

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/tracing"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// probe watches server/discover, whose outcome mcp-go's client keeps to itself
// and tells its tracer only.
type probe struct {
	tracing.Span
	pinned string // the protocol that is asked for and nothing else; empty for none
	asked  atomic.Bool
	failed atomic.Pointer[error]
}

func newProbe(pinned string) *probe {
	return &probe{Span: tracing.SpanFromContext(context.Background()), pinned: pinned} // a span that records nothing
}

// Start watches the one request and no other.
func (p *probe) Start(ctx context.Context, name string, _ tracing.SpanKind, _ ...tracing.Attribute) (context.Context, tracing.Span) {
	if name == "mcp."+string(mcp.MethodServerDiscover) {
		p.asked.Store(true)
		return ctx, p
	}
	if name == "mcp."+string(mcp.MethodInitialize) && mcp.IsModernProtocol(p.pinned) {
		return ended(ctx), p.Span // mcp-go v1.2.1 would fall back; it does not send what has ended
	}
	return ctx, p.Span
}

// RecordError learns why the request failed.
func (p *probe) RecordError(err error) { p.failed.Store(&err) }

// unanswered says whether the server let the time for it pass.
func (p *probe) unanswered() bool {
	failed := p.failed.Load()
	return failed != nil && failure.Of(*failed).Kind == failure.TimedOut
}

// reason returns why the handshake failed with err: a server that wanted a
// login at the probe may say something else to the initialize that mcp-go
// sends after it. One that answered the probe and has no initialize speaks the
// newest protocol only, so that its answer to the probe is to blame.
func (p *probe) reason(err error) error {
	failed := p.failed.Load()
	switch {
	case failed != nil && mcp.IsModernProtocol(p.pinned):
		return p.refused(*failed)
	case failed != nil && failure.Of(*failed).Kind == failure.LoginWanted:
		return *failed
	case failed == nil && p.asked.Load() && failure.IsMethodNotFound(err):
		return fmt.Errorf("the answer to %s cannot be used: it is malformed or has no protocol version in common; and the older handshake: %w", mcp.MethodServerDiscover, err)
	default:
		return err
	}
}

// refused is why a server cannot be used on the one protocol that it is asked for:
// one that answers without having the probe does not speak it.
func (p *probe) refused(err error) error {
	if !failure.IsMethodNotFound(err) {
		return err
	}
	return fmt.Errorf("%w: it answered %s with %w", mcp.UnsupportedProtocolVersionError{Version: p.pinned}, mcp.MethodServerDiscover, err)
}

// ended returns a context that has ended.
func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
