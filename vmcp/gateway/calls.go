package gateway

import (
	"context"
	"errors"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/vmcp"
)

func (c *call) callTool() (any, error) {
	request := mcp.CallToolRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	if request.Params.Name == StatusTool && c.hasStatusTool() {
		return c.callStatusTool(), nil
	}
	if err := c.checkParamHeaders(request.Params.Name); err != nil {
		return nil, err
	}
	return inRounds(c, request.Params.MultiRoundTripParams, func(ctx context.Context) (any, error) {
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
	})
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

func (c *call) getPrompt() (any, error) {
	request := mcp.GetPromptRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	return inRounds(c, request.Params.MultiRoundTripParams, func(ctx context.Context) (any, error) {
		result, err := c.session.GetPrompt(ctx, request)
		if err != nil {
			return nil, c.said(err)
		}
		handBack(&result.Result)
		return result, nil
	})
}

func (c *call) readResource() (any, error) {
	request := mcp.ReadResourceRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	return inRounds(c, request.Params.MultiRoundTripParams, func(ctx context.Context) (any, error) {
		result, err := c.session.ReadResource(ctx, request)
		if err != nil {
			return nil, c.said(err)
		}
		handBack(&result.Result)
		return result, nil
	})
}

func (c *call) complete() (any, error) {
	request := mcp.CompleteRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	result, err := c.session.Complete(c.outgoing(c.ctx, c.told()), request)
	if err != nil {
		return nil, c.said(err)
	}
	handBack(&result.Result)
	return result, nil
}

// checkParamHeaders compares the headers with the arguments that a tool wants in
// both, which protocol 2026-07-28 has.
func (c *call) checkParamHeaders(name string) error {
	if c.Header == nil || !c.Client.Modern() {
		return nil
	}
	tool, ok := c.session.Tool(name)
	if !ok {
		return nil // the session says so better
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := c.Header.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	}, &tool, c.Params())
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
