package vmcp

import "github.com/mark3labs/mcp-go/mcp"

// offer is what a backend lists.
type offer struct {
	Tools     []mcp.Tool
	Resources []mcp.Resource
	Templates []mcp.ResourceTemplate
	Prompts   []mcp.Prompt
}

// equal compares what a client would see.
func (o offer) equal(other offer) bool {
	return sameJSON(o.Tools, other.Tools) && sameJSON(o.Prompts, other.Prompts) &&
		sameJSON(o.Resources, other.Resources) && sameJSON(o.Templates, other.Templates)
}

// inventory is what came of asking for lists: what there is, and those that
// failed and do not fail the backend.
type inventory struct {
	offer  offer
	failed []FailedList
}

// keeping takes the list of a method from what was there before.
func (o offer) keeping(method mcp.MCPMethod, before offer) offer {
	switch method {
	case mcp.MethodResourcesList:
		o.Resources = before.Resources
	case mcp.MethodResourcesTemplatesList:
		o.Templates = before.Templates
	case mcp.MethodPromptsList:
		o.Prompts = before.Prompts
	}
	return o
}
