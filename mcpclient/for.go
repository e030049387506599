package mcpclient

import (
	"context"
	"reflect"
)

// Next is the rest of the chain for one call, with the types of its method. It
// may be called more than once, or not at all.
type Next[Req, Res any] func(ctx context.Context, request *Req) (*Res, error)

// For makes a middleware that handles the methods with this request and result
// type and lets every other call pass. The two list methods of a kind share
// their types, so it handles both. The request must not be changed: copy it.
// It costs one more allocation for each call that it handles. It panics if no
// method has the two types, and names the pair that was meant; a method without
// a result, such as Subscribe, has none.
//
//	mcpclient.For(func(ctx context.Context, request *mcp.CallToolRequest,
//		next mcpclient.Next[mcp.CallToolRequest, mcp.CallToolResult]) (*mcp.CallToolResult, error) {
//		...
//		return next(ctx, request)
//	})
func For[Req, Res any](handle func(ctx context.Context, request *Req, next Next[Req, Res]) (*Res, error)) Middleware {
	requirePair(reflect.TypeFor[Req](), reflect.TypeFor[Res]())
	return func(next Handler) Handler {
		return func(ctx context.Context, call Call) (any, error) {
			request, ok := call.Request.(*Req)
			if !ok || request == nil {
				return next(ctx, call)
			}
			result, err := handle(ctx, request, func(ctx context.Context, request *Req) (*Res, error) {
				typed := call // next may be called on several goroutines at once
				typed.Request = request
				result, err := next(ctx, typed)
				if err != nil {
					return nil, err
				}
				return checked[Res](call.Op, "result", result)
			})
			if err != nil {
				return nil, err
			}
			return checked[Res](call.Op, "result", result)
		}
	}
}
