package gateway

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/vmcp"
)

// capabilities declare the kinds that the session has something of.
func capabilities(session *vmcp.Session) []server.ServerOption {
	var options []server.ServerOption
	if len(session.Tools()) > 0 {
		options = append(options, server.WithToolCapabilities(true))
	}
	if len(session.Prompts()) > 0 {
		options = append(options, server.WithPromptCapabilities(true))
	}
	if len(session.Resources())+len(session.ResourceTemplates()) > 0 {
		options = append(options, server.WithResourceCapabilities(false, true))
	}
	if session.HasCompletions() {
		completer := completer{session}
		options = append(options, server.WithCompletions(),
			server.WithPromptCompletionProvider(completer), server.WithResourceCompletionProvider(completer))
	}
	return options
}

func toolsOf(session *vmcp.Session) []server.ServerTool {
	call := func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := session.CallTool(outgoing{ctx}, request)
		if err != nil {
			return nil, err
		}
		result.Result = handedBack(result.Result)
		return result, nil
	}
	var tools []server.ServerTool
	for _, tool := range session.Tools() {
		tool.Execution = nil // tasks are not handed on
		tools = append(tools, server.ServerTool{Tool: tool, Handler: call})
	}
	return tools
}

func promptsOf(session *vmcp.Session) []server.ServerPrompt {
	get := func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		result, err := session.GetPrompt(outgoing{ctx}, request)
		if err != nil {
			return nil, err
		}
		result.Result = handedBack(result.Result)
		return result, nil
	}
	var prompts []server.ServerPrompt
	for _, prompt := range session.Prompts() {
		prompts = append(prompts, server.ServerPrompt{Prompt: prompt, Handler: get})
	}
	return prompts
}

func resourcesOf(session *vmcp.Session) ([]server.ServerResource, []server.ServerResourceTemplate) {
	read := func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		result, err := session.ReadResource(outgoing{ctx}, request)
		if err != nil {
			return nil, err
		}
		return result.Contents, nil
	}
	var resources []server.ServerResource
	for _, resource := range session.Resources() {
		resources = append(resources, server.ServerResource{Resource: resource, Handler: read})
	}
	var templates []server.ServerResourceTemplate
	for _, template := range session.ResourceTemplates() {
		templates = append(templates, server.ServerResourceTemplate{Template: template, Handler: read})
	}
	return resources, templates
}

// completer answers completions for mcp-go's server.
type completer struct{ session *vmcp.Session }

func (c completer) CompletePromptArgument(ctx context.Context, name string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, mcp.PromptReference{Type: "ref/prompt", Name: name}, argument, known)
}

func (c completer) CompleteResourceArgument(ctx context.Context, uri string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, mcp.ResourceReference{Type: "ref/resource", URI: uri}, argument, known)
}

func (c completer) complete(ctx context.Context, ref any, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	result, err := c.session.Complete(outgoing{ctx}, mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: ref, Argument: argument, Context: known}})
	if err != nil {
		return nil, err
	}
	return &result.Completion, nil
}
