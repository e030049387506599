package vmcp

import "github.com/mark3labs/mcp-go/mcp"

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
