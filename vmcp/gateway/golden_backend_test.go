package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// goldenSchema has keywords of JSON Schema that no type of mcp-go has a field
// for, and nests them.
const goldenSchema = `{
	"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/golden","title":"Golden","description":"A schema","type":"object",
	"$defs":{"address":{"$anchor":"a","type":"object","properties":{"street":{"type":"string","minLength":1}}}},
	"properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"name":{"type":"string","title":"Name","description":"d","default":"x","examples":["a","b"],"pattern":"^a","format":"email","enum":["a","b"]},
		"count":{"type":["integer","null"],"minimum":9007199254740993,"exclusiveMaximum":1e3,"multipleOf":0.1},
		"list":{"type":"array","prefixItems":[{"const":null}],"items":false,"contains":{"$ref":"#/$defs/address"},"uniqueItems":true},
		"open":{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":{"oneOf":[{"type":"string"},{"not":{}}]},"unevaluatedProperties":false}},
	"required":["name"],"dependentRequired":{"name":["count"]},
	"allOf":[{"anyOf":[{"required":["name"]}]}],"if":{"required":["count"]},"then":{"minProperties":2},"else":{"maxProperties":9},
	"additionalProperties":false,"x-vendor":{"kept":[1,2.50]}}`

// goldenBackend is a server whose every answer has all that mcp-go's types have.
func goldenBackend() *server.MCPServer {
	f := new(filler)
	hooks := new(server.Hooks)
	s := server.NewMCPServer("golden", "1",
		server.WithHooks(hooks), server.WithCacheHints(1234, mcp.CacheScopePublic),
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithResourceCapabilities(true, true),
		server.WithTaskCapabilities(true, true, true),
		server.WithCompletions(), server.WithPromptCompletionProvider(goldenCompleter{}), server.WithResourceCompletionProvider(goldenCompleter{}))
	goldenHooks(f, hooks)
	goldenTools(f, s)
	goldenPrompts(f, s)
	goldenResources(f, s)
	return s
}

// goldenHooks give the results a _meta of their own where a handler has no way
// to.
func goldenHooks(f *filler, hooks *server.Hooks) {
	tools, prompts, resources, templates, read := f.object("tools"), f.object("prompts"), f.object("resources"), f.object("templates"), f.object("read")
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		mark(&r.Result, tools)
	})
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, _ *mcp.ListPromptsRequest, r *mcp.ListPromptsResult) {
		mark(&r.Result, prompts)
	})
	hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, r *mcp.ListResourcesResult) {
		mark(&r.Result, resources)
	})
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, r *mcp.ListResourceTemplatesResult) {
		mark(&r.Result, templates)
	})
	hooks.AddAfterReadResource(func(_ context.Context, _ any, _ *mcp.ReadResourceRequest, r *mcp.ReadResourceResult) {
		mark(&r.Result, read)
	})
}

func mark(result *mcp.Result, meta map[string]any) {
	result.Meta = &mcp.Meta{AdditionalFields: maps.Clone(meta)} // the server adds to it
}

func goldenTools(f *filler, s *server.MCPServer) {
	typed, raw, failing := filled[mcp.Tool](f), filled[mcp.Tool](f), filled[mcp.Tool](f)
	typed.Name, typed.InputSchema.Type, typed.OutputSchema.Type = "typed", "object", "object"
	raw.Name, raw.InputSchema, raw.OutputSchema = "raw", mcp.ToolInputSchema{}, mcp.ToolOutputSchema{}
	raw.RawInputSchema, raw.RawOutputSchema = json.RawMessage(goldenSchema), json.RawMessage(goldenSchema)
	failing.Name, failing.InputSchema.Type, failing.OutputSchema.Type = "failing", "object", "object"
	result, failure := filled[mcp.CallToolResult](f), filled[mcp.CallToolResult](f)
	result.Content, result.IsError = goldenContents(f), false
	failure.StructuredContent = nil
	s.AddTool(typed, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return copied(result), nil })
	s.AddTool(raw, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(told(r.Params.RawArguments, r.Params.Meta)), nil
	})
	s.AddTool(failing, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return copied(failure), nil })
	s.AddTool(mcp.NewTool("erring"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New("no") })
	for name, structured := range map[string]any{"listing": []any{1, map[string]any{"a": nil}}, "counting": json.Number("9007199254740993")} {
		s.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: structured}, nil
		})
	}
}

// copied is for the server to change.
func copied(result mcp.CallToolResult) *mcp.CallToolResult {
	mark(&result.Result, result.Meta.AdditionalFields)
	return &result
}

func goldenPrompts(f *filler, s *server.MCPServer) {
	prompt := filled[mcp.Prompt](f)
	prompt.Name, prompt.Arguments[0].Name, prompt.Arguments[1].Name = "typed", "one", "two"
	result := filled[mcp.GetPromptResult](f)
	result.Messages = nil
	for i, content := range goldenContents(f) {
		result.Messages = append(result.Messages, mcp.PromptMessage{Role: []mcp.Role{mcp.RoleUser, mcp.RoleAssistant}[i%2], Content: content})
	}
	s.AddPrompt(prompt, func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		arguments, err := json.Marshal(r.Params.Arguments)
		answer := result
		answer.Description = told(arguments, r.Params.Meta)
		mark(&answer.Result, result.Meta.AdditionalFields)
		return &answer, err
	})
	s.AddPrompt(mcp.NewPrompt("erring"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("no")
	})
}

func goldenResources(f *filler, s *server.MCPServer) {
	resource, template := filled[mcp.Resource](f), filled[mcp.ResourceTemplate](f)
	resource.URI, resource.Name = "golden://typed", "typed"
	template.Name = "typed"
	contents := []mcp.ResourceContents{filled[mcp.TextResourceContents](f), filled[mcp.BlobResourceContents](f)}
	s.AddResource(resource, func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) { return contents, nil })
	s.AddResource(mcp.NewResource("golden://erring", "erring"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("no")
	})
	s.AddResourceTemplate(template, func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, Text: told(nil, r.Params.Meta)}}, nil
	})
}

// goldenContents are content of each kind that a tool or a prompt has.
func goldenContents(f *filler) []mcp.Content {
	text, image, audio := filled[mcp.TextContent](f), filled[mcp.ImageContent](f), filled[mcp.AudioContent](f)
	link, resource, blob := filled[mcp.ResourceLink](f), filled[mcp.EmbeddedResource](f), filled[mcp.EmbeddedResource](f)
	text.Type, image.Type, audio.Type, link.Type = "text", "image", "audio", "resource_link"
	resource.Type, blob.Type, blob.Resource = "resource", "resource", filled[mcp.BlobResourceContents](f)
	return []mcp.Content{text, image, audio, link, resource, blob}
}

// goldenCompleter tells what it is asked.
type goldenCompleter struct{}

func (goldenCompleter) CompletePromptArgument(_ context.Context, name string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{name, argument.Name, argument.Value, known.Arguments["one"]}, Total: 77, HasMore: true}, nil
}

func (goldenCompleter) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{uri, argument.Name, argument.Value, known.Arguments["one"]}, Total: 77, HasMore: true}, nil
}

// told is what a handler got: the arguments as they came, and the caller's own
// part of _meta.
func told(arguments json.RawMessage, meta *mcp.Meta) string {
	got := struct {
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Meta      map[string]any  `json:"meta,omitempty"`
		Progress  any             `json:"progressToken,omitempty"`
	}{Arguments: arguments}
	if meta != nil {
		got.Progress, got.Meta = meta.ProgressToken, maps.Clone(meta.AdditionalFields)
		maps.DeleteFunc(got.Meta, func(key string, _ any) bool { return strings.HasPrefix(key, "io.modelcontextprotocol/") })
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
