package gateway

import (
	"context"
	"errors"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/vmcp"
)

// toolOf calls a tool of the session.
func (c *call) toolOf(request mcp.CallToolRequest) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		result, err := c.session.CallTool(ctx, request)
		if unavailable, ok := errors.AsType[*vmcp.UnavailableError](err); ok {
			return toolUnavailable(unavailable), nil
		}
		if isLost(ctx, err) {
			return toolLost(request.Params.Name, err), nil
		}
		if err != nil {
			return nil, c.said(err)
		}
		handBack(&result.Result)
		return result, nil
	}
}

// isLost says whether a call got no answer of its backend: the connection ended,
// or time ran out, while the caller is still there.
func isLost(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || errors.Is(err, vmcp.ErrClosed) {
		return false
	}
	_, notRepeated := errors.AsType[*vmcp.NotRepeatedError](err)
	return notRepeated || !failure.Of(err).Answered()
}

// promptOf renders a prompt of the session.
func (c *call) promptOf(request mcp.GetPromptRequest) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		result, err := c.session.GetPrompt(ctx, request)
		if err != nil {
			return nil, c.said(err)
		}
		handBack(&result.Result)
		return result, nil
	}
}

// resourceOf reads a resource of the session.
func (c *call) resourceOf(request mcp.ReadResourceRequest) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		result, err := c.session.ReadResource(ctx, request)
		if err != nil {
			return nil, c.said(err)
		}
		handBack(&result.Result)
		return result, nil
	}
}

// handBack leaves of a backend's result what goes on to the caller: not what the
// protocol says about the hop that it came over, such as who the server is.
func handBack(result *mcp.Result) {
	if result.ResultType != mcp.ResultTypeInputRequired {
		result.ResultType = ""
	}
	if result.Meta == nil {
		return
	}
	kept := maps.Clone(result.Meta.AdditionalFields)
	maps.DeleteFunc(kept, func(key string, _ any) bool { return vmcp.IsHop(key) })
	result.Meta = nil
	if len(kept) > 0 {
		result.Meta = &mcp.Meta{AdditionalFields: kept}
	}
}
