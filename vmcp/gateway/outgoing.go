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

// outgoing returns the context for a call to a backend, which may turn to the
// peer meanwhile.
func (c *call) outgoing(ctx context.Context, peer vmcp.Peer) context.Context {
	out := context.Context(outgoing{ctx})
	out = trace.ContextWithSpan(out, trace.SpanFromContext(ctx))
	out = baggage.ContextWithBaggage(out, baggage.FromContext(ctx))
	peer.Header, peer.MultiRoundTrip = c.Header, c.Client.Modern()
	return vmcp.WithPeer(out, peer)
}

// told is a peer that is told things, and asked nothing.
func (c *call) told() vmcp.Peer { return vmcp.Peer{Notify: c.Notify} }

// askable is a peer that is told things and asked what its client can be asked.
func (c *call) askable(a asker, notify func(mcp.JSONRPCNotification)) vmcp.Peer {
	peer := vmcp.Peer{Notify: notify}
	a.answerFor(&peer, c.caller.key.asks)
	return peer
}
