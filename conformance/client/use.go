package main

import (
	"context"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// use lists what the server offers, calls every tool, reads every resource and
// gets every prompt. The first failure ends it.
func (s scenario) use(ctx context.Context, c client.MCPClient, offers mcp.ServerCapabilities) error {
	if err := s.useTools(ctx, c); err != nil {
		return err
	}
	if offers.Resources != nil {
		if err := useResources(ctx, c); err != nil {
			return err
		}
	}
	if offers.Prompts != nil {
		return usePrompts(ctx, c)
	}
	return nil
}

// useTools asks for tools even where none are advertised: some scenarios wait
// for that request. A scenario that names the calls gets exactly those.
func (s scenario) useTools(ctx context.Context, c client.MCPClient) error {
	listed, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || s.onlyLists() {
		return err
	}
	calls := s.ToolCalls
	if calls == nil {
		calls = callsOf(listed.Tools)
	}
	for _, call := range calls {
		params := mcp.CallToolParams{Name: call.Name, Arguments: call.Arguments}
		if _, err := c.CallTool(ctx, mcp.CallToolRequest{Params: params}); err != nil {
			return err
		}
	}
	return nil
}

func useResources(ctx context.Context, c client.MCPClient) error {
	listed, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return err
	}
	for _, resource := range listed.Resources {
		params := mcp.ReadResourceParams{URI: resource.URI}
		if _, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: params}); err != nil {
			return err
		}
	}
	return nil
}

func usePrompts(ctx context.Context, c client.MCPClient) error {
	listed, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return err
	}
	for _, prompt := range listed.Prompts {
		params := mcp.GetPromptParams{Name: prompt.Name}
		if _, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: params}); err != nil {
			return err
		}
	}
	return nil
}
