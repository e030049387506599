package mcpclient

import (
	"context"
	"slices"
)

// A Handler answers a call. It returns a non-nil pointer to the mcp-go result
// struct of the call's method, such as *mcp.ListToolsResult, if and only if
// the error is nil; for a method without a result (Ping, Subscribe,
// Unsubscribe, SetLevel, Close) it returns nil and nil.
//
// A Handler is used by many goroutines at once.
type Handler func(ctx context.Context, call Call) (any, error)

// A Middleware makes a handler out of the next one. It is called once for each
// client that is wrapped, so what its closure holds belongs to one client.
type Middleware func(next Handler) Handler

// Chain combines middlewares into one; the first listed is the outermost. Nil
// middlewares are skipped and chains nest. Later changes of the slice that was
// handed in have no effect.
func Chain(middlewares ...Middleware) Middleware {
	middlewares = slices.Clone(middlewares)
	return func(next Handler) Handler {
		for _, middleware := range slices.Backward(middlewares) {
			if middleware != nil {
				next = handlerOf(middleware, next)
			}
		}
		return next
	}
}

// handlerOf composes one link. A middleware that makes no handler costs each
// caller an error instead of a panic.
func handlerOf(middleware Middleware, next Handler) Handler {
	if handler := middleware(next); handler != nil {
		return handler
	}
	return func(_ context.Context, call Call) (any, error) {
		return nil, &ContractError{Op: call.Op, Part: "handler", Want: "a handler", Got: "nil"}
	}
}
