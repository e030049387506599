package vmcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
)

// put does one request of an audit. An error is the JSON-RPC error exactly as the
// server answered with it, where it did, and a result of another shape than it
// needs is an error, whatever mcp-go made of it.
func put[Req, Res any](ctx context.Context, needs shape, method func(context.Context, Req) (Res, error), request Req) (Res, error) {
	ctx, exchange := wire.WithExchange(ctx)
	var misfit atomic.Pointer[misshapen] // of the last of several rounds
	exchange.Hook(wire.Hooks{Result: func(_ string, result json.RawMessage) json.RawMessage {
		misfit.Store(needs.misfit(result))
		return result
	}})
	result, err := method(ctx, request)
	if err != nil {
		return result, coded(err, exchange)
	}
	if wrong := misfit.Load(); wrong != nil {
		return result, *wrong
	}
	return result, nil
}

// coded is [failure.Exact], and leaves a list that ended early one.
func coded(err error, exchange *wire.Exchange) error {
	partial, ok := errors.AsType[*middleware.PartialListError](err)
	if !ok {
		return failure.Exact(err, exchange)
	}
	exact := *partial
	exact.Err = failure.Exact(partial.Err, exchange)
	return &exact
}

// onlyError makes a method whose result is empty one that put can do.
func onlyError[Req any](method func(context.Context, Req) error) func(context.Context, Req) (struct{}, error) {
	return func(ctx context.Context, request Req) (struct{}, error) {
		return struct{}{}, method(ctx, request)
	}
}
