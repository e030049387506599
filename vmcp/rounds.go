package vmcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// answering returns the context for a request to a backend, and where its answer
// will be. A caller who takes rounds conducts them by himself with a backend that
// has them, which is one on protocol 2026-07-28; a backend that has not asks his
// [Peer].
func answering(ctx context.Context, client *mcpclient.Client, request any) (context.Context, *wire.Exchange, *connect.Rounds) {
	ctx, exchange := wire.WithExchange(ctx)
	if peer, ok := peerOf(ctx); ok && peer.Rounds {
		server, known := client.Server()
		if again := again(request); again != nil && known && mcp.IsModernProtocol(server.ProtocolVersion) {
			return ctx, exchange, connect.TakeRounds(exchange, *again)
		}
	}
	return ctx, exchange, nil
}

// again is what a request sends of an earlier round; nil for one without rounds.
func again(request any) *mcp.MultiRoundTripParams {
	switch r := request.(type) {
	case mcp.CallToolRequest:
		return &r.Params.MultiRoundTripParams
	case mcp.GetPromptRequest:
		return &r.Params.MultiRoundTripParams
	case mcp.ReadResourceRequest:
		return &r.Params.MultiRoundTripParams
	default:
		return nil
	}
}

// needs makes a result one that needs input of the caller.
func needs(result any, needed mcp.MultiRoundTripResult) {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		r.ResultType, r.MultiRoundTripResult = mcp.ResultTypeInputRequired, needed
	case *mcp.GetPromptResult:
		r.ResultType, r.MultiRoundTripResult = mcp.ResultTypeInputRequired, needed
	case *mcp.ReadResourceResult:
		r.ResultType, r.MultiRoundTripResult = mcp.ResultTypeInputRequired, needed
	}
}
