package gateway

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
)

// outgoing is the context of a call to a backend: it ends with the caller's,
// and has none of its values but the trace. A backend in this process would
// take them, the caller's HTTP headers, for those of its own request.
type outgoing struct{ context.Context }

// Value knows nothing.
func (outgoing) Value(any) any { return nil }

// outgoing returns the context for a call to a backend, which tells the client
// things through notify and asks it through ask, if that is not nil.
func (c *call) outgoing(ctx context.Context, notify func(mcp.JSONRPCNotification), ask ask) context.Context {
	out := context.Context(outgoing{ctx})
	out = trace.ContextWithSpan(out, trace.SpanFromContext(ctx))
	out = baggage.ContextWithBaggage(out, baggage.FromContext(ctx))
	peer := vmcp.Peer{Notify: notify, Header: c.Header, Rounds: c.Client.Modern()}
	if ask != nil {
		ask.answerFor(&peer, c.caller.key.asks)
	}
	return vmcp.WithPeer(out, peer)
}
