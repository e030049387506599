package vmcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// A Peer is the one who makes a call, as far as the backend may turn to it
// while it works on the call. Each part may be missing.
type Peer struct {
	// Sampling, Elicitation and Roots answer what a backend may ask, if
	// [Builder.Asks] says so. Their context ends with the call. An error that
	// is [mcp.ErrMethodNotFound], or another of package mcp with a code of
	// JSON-RPC, reaches the backend with that code, any other as -32603.
	Sampling    client.SamplingHandler
	Elicitation client.ElicitationHandler
	Roots       client.RootsHandler
	// Notify gets the progress of the call, with the token that the call came
	// with, in the order in which the backend told it, and nothing once the
	// call has returned. It must not block: the backend's other answers wait
	// for it.
	Notify func(mcp.JSONRPCNotification)
	// MultiRoundTrip says that the caller takes results that need input: those of
	// protocol 2026-07-28, see [mcp.CallToolResult.NeedsInput]. A backend that
	// has them answers so; another one turns to Sampling, Elicitation and Roots.
	MultiRoundTrip bool
	// Away says whether the caller is not there to be asked, as one that takes
	// MultiRoundTrip is not between two of its requests; nil means that it always is.
	// A question that is not known to belong to the call is not put to a peer
	// that is away, or that has this or another question to answer already: the
	// backend gets [ErrNoPeer] instead of waiting. The time that an answer of a
	// caller with Away takes is no part of the call's time-out; without one
	// within 10 minutes the call ends. It must not block.
	Away func() bool
	// Header are the headers that the call came with; see
	// [Backend.ForwardHeaders].
	Header http.Header
}

type peerKey struct{}

// WithPeer returns a context for calls of a session that the peer makes.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, &p)
}

func peerOf(ctx context.Context) (*Peer, bool) {
	p, ok := ctx.Value(peerKey{}).(*Peer)
	return p, ok
}
