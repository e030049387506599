package vmcp

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
)

// answer is what is known of the answer to a request beside its result.
type answer struct {
	exchange *wire.Exchange
	rounds   *connect.MultiRoundTrip // nil if the caller does not conduct them
}

// withAnswer returns the context for a request to a backend, and where its answer
// will be. A caller that takes rounds conducts them by itself with a backend that
// has them, which is one on protocol 2026-07-28; a backend that has not asks its
// [Peer].
func withAnswer(ctx context.Context, server *mcp.InitializeResult, request any) (context.Context, answer) {
	ctx, exchange := wire.WithExchange(ctx)
	again := again(request)
	if peer, ok := peerOf(ctx); ok && peer.MultiRoundTrip && again != nil && mcp.IsModernProtocol(server.ProtocolVersion) {
		return ctx, answer{exchange, connect.NewMultiRoundTrip(exchange, *again)}
	}
	return ctx, answer{exchange, nil}
}

// exact gives an error the JSON-RPC error that it comes from, if it does. What a
// middleware has put in its place already says it better.
func (a answer) exact(err error) error {
	_, contradicted := errors.AsType[*middleware.ContradictionError](err)
	_, partial := errors.AsType[*middleware.PartialListError](err)
	if contradicted || partial {
		return err
	}
	return failure.Exact(err, a.exchange)
}

// exactly does one request and makes its error exact. Of several that share an
// answer, one would get the error of another.
func exactly(ctx context.Context, request func(context.Context) error) error {
	ctx, exchange := wire.WithExchange(ctx)
	return answer{exchange: exchange}.exact(request(ctx))
}

// complete makes a result one that needs input of the caller, if it does.
func (a answer) complete(result any) {
	if needed, ok := a.rounds.Required(); ok {
		needs(result, needed)
	}
}
