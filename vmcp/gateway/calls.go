package gateway

import (
	"github.com/mark3labs/mcp-go/mcp"
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
	return inRoundTrips(c, request.Params.MultiRoundTripParams, c.toolOf(request))
}

func (c *call) getPrompt() (any, error) {
	request := mcp.GetPromptRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	return inRoundTrips(c, request.Params.MultiRoundTripParams, c.promptOf(request))
}

func (c *call) readResource() (any, error) {
	request := mcp.ReadResourceRequest{}
	if err := c.Decode(&request.Params); err != nil {
		return nil, err
	}
	return inRoundTrips(c, request.Params.MultiRoundTripParams, c.resourceOf(request))
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
