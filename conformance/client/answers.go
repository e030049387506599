package main

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// callsOf is one call of each tool, in the order of the list.
func callsOf(tools []mcp.Tool) []toolCall {
	calls := make([]toolCall, len(tools))
	for i, tool := range tools {
		calls[i] = toolCall{tool.Name, argumentsOf(tool, tools[0])}
	}
	return calls
}

// argumentsOf fills in every property by its type. An object is the schema of
// the first tool in the list: json_schema_echo asks what became of that.
func argumentsOf(tool, first mcp.Tool) map[string]any {
	arguments := map[string]any{}
	for name, schema := range tool.InputSchema.Properties {
		property, _ := schema.(map[string]any)
		switch property["type"] {
		case "number", "integer":
			arguments[name] = 1
		case "boolean":
			arguments[name] = true
		case "object":
			arguments[name] = first.InputSchema
		default:
			arguments[name] = "text"
		}
	}
	return arguments
}

// accepting answers the server's questions with the defaults of their schema.
type accepting struct{}

// Elicit accepts.
func (accepting) Elicit(_ context.Context, question mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	schema, _ := question.Params.RequestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	content := map[string]any{}
	for name, schema := range properties {
		property, _ := schema.(map[string]any)
		if value, ok := property["default"]; ok {
			content[name] = value
		}
	}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action:  mcp.ElicitationResponseActionAccept,
		Content: content,
	}}, nil
}
