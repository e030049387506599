package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
)

// boasting is a server that has one tool and no prompts, and says in its
// handshake that it has prompts.
func boasting() *mcpserver.MCPServer {
	hooks := &mcpserver.Hooks{}
	hooks.AddAfterDiscover(func(_ context.Context, _ any, _ *mcp.DiscoverRequest, said *mcp.DiscoverResult) {
		said.Capabilities.Prompts = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{}
	})
	s := mcpserver.NewMCPServer("acme", "1.2.3", mcpserver.WithHooks(hooks))
	s.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})
	return s
}

// timeless leaves out what differs from run to run.
func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}

// A server that says it has prompts and then does not know prompts/list costs
// its client the prompts, and nothing else.
func ExampleDefault() {
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: timeless}))

	inner, _ := client.NewInProcessClient(boasting())
	_ = inner.Start(ctx)
	c := mcpclient.Wrap(inner, middleware.Default(logger, nil))
	defer func() { _ = c.Close() }()

	_, _ = c.Initialize(ctx, mcp.InitializeRequest{})
	prompts, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	fmt.Println(len(prompts.Prompts), err)
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	fmt.Println(len(tools.Tools), err)
	// Output:
	// level=WARN msg="the server advertises prompts, but answers prompts/list with -32601 \"prompts not supported\"" event=capability_contradiction capability=prompts method=prompts/list code=-32601 serverMessage="prompts not supported" serverName=acme serverVersion=1.2.3 protocolVersion=2026-07-28
	// 0 <nil>
	// 1 <nil>
}

// What was found can be shown to a user, too: here it becomes a note on a
// status page.
func ExampleOnContradiction() {
	ctx := context.Background()
	var notes []string
	note := middleware.OnContradiction(func(_ context.Context, found middleware.Contradiction) {
		notes = append(notes, found.ServerName+" "+found.String())
	})

	inner, _ := client.NewInProcessClient(boasting())
	_ = inner.Start(ctx)
	c := mcpclient.Wrap(inner, middleware.Default(nil, nil, note))
	defer func() { _ = c.Close() }()

	_, _ = c.Initialize(ctx, mcp.InitializeRequest{})
	_, _ = c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	fmt.Println(notes)
	// Output:
	// [acme advertises prompts, but answers prompts/list with -32601 "prompts not supported"]
}

// A level of one's own: here a tool that fails is nobody's business.
func ExampleWithLevel() {
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: timeless}))
	quiet := middleware.WithLevel(func(outcome instrument.Outcome) slog.Level {
		if outcome.Call.Method == mcp.MethodToolsCall {
			return slog.LevelDebug
		}
		return middleware.DefaultLevel(outcome)
	})

	inner, _ := client.NewInProcessClient(boasting())
	_ = inner.Start(ctx)
	c := mcpclient.Wrap(inner, middleware.Logging(logger, quiet))
	defer func() { _ = c.Close() }()

	_, _ = c.Initialize(ctx, mcp.InitializeRequest{})
	_, _ = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "unknown"}})
	_, _ = c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	// Output:
	// level=WARN msg="mcp call" operation=ListPrompts method=prompts/list outcome=error code=-32601 error="method not found: prompts not supported"
}
