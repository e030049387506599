package main

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// embedded are the backends of a run without a configuration: they need no
// network and nothing to install.
func embedded() []vmcp.Backend {
	return []vmcp.Backend{
		{ID: "honest", Connector: connect.To(connect.InProcess{Server: honest()})},
		{ID: "boastful", Connector: connect.To(badserver.New(boastful()))},
	}
}

// honest has what it advertises: a tool, a resource and a prompt.
func honest() *server.MCPServer {
	s := server.NewMCPServer("honest", "1.0.0")
	s.AddTool(
		mcp.NewTool("echo", mcp.WithDescription("Repeats the message."), mcp.WithString("message", mcp.Required(), mcp.Description("what to repeat"))),
		func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			message, err := request.RequireString("message")
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(message), nil
		})
	s.AddResource(
		mcp.NewResource("honest://greeting", "greeting", mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "honest://greeting", MIMEType: "text/plain", Text: "Hello from a server that keeps its word."}}, nil
		})
	s.AddPrompt(
		mcp.NewPrompt("summarize", mcp.WithPromptDescription("Asks for a summary of a text."), mcp.WithArgument("text", mcp.RequiredArgument())),
		func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("A summary", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Summarize: "+request.Params.Arguments["text"])),
			}), nil
		})
	return s
}

// boastful advertises resources and prompts as well, and answers their lists
// with "Method not found", as some well-known servers do.
func boastful() badserver.Script {
	return badserver.Script{
		Name: "boastful", Version: "1.0.0",
		Capabilities: json.RawMessage(`{"tools":{},"resources":{},"prompts":{}}`),
		Answers: map[string][]badserver.Answer{
			"tools/list": {badserver.Result(mcp.ListToolsResult{Tools: []mcp.Tool{mcp.NewTool("brag", mcp.WithDescription("Says what it has."))}})},
			"tools/call": {badserver.Result(mcp.NewToolResultText("I have resources, prompts and everything."))},
		},
	}
}
