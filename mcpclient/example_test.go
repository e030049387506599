package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient"
)

// greeter is a server with a tool that greets.
func greeter() *server.MCPServer {
	s := server.NewMCPServer("greeter", "1.0.0")
	s.AddTool(mcp.NewTool("greet", mcp.WithString("name")), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello " + request.GetString("name", "nobody")), nil
	})
	return s
}

// A middleware sees every call, whatever its method.
func ExampleWrap() {
	ctx := context.Background()
	announce := func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			fmt.Println(call.Op, call.Method)
			return next(ctx, call)
		}
	}

	inner, _ := client.NewInProcessClient(greeter())
	_ = inner.Start(ctx)
	c := mcpclient.Wrap(inner, announce)

	_, _ = c.Initialize(ctx, mcp.InitializeRequest{})
	for tool, err := range c.IterTools(ctx, mcp.ListToolsRequest{}) {
		fmt.Println("->", tool.Name, err)
	}
	_ = c.Close()
	// Output:
	// Initialize initialize
	// ListToolsByPage tools/list
	// -> greet <nil>
	// Close
}

// A middleware for one method has its types. It copies the request that it
// changes.
func ExampleFor() {
	ctx := context.Background()
	shy := mcpclient.For(func(ctx context.Context, request *mcp.CallToolRequest,
		next mcpclient.Next[mcp.CallToolRequest, mcp.CallToolResult],
	) (*mcp.CallToolResult, error) {
		if request.GetString("name", "") == "Voldemort" {
			return mcp.NewToolResultError("we do not say that name"), nil
		}
		polite := *request
		polite.Params.Arguments = map[string]any{"name": "dear " + request.GetString("name", "")}
		return next(ctx, &polite)
	})

	inner, _ := client.NewInProcessClient(greeter())
	_ = inner.Start(ctx)
	c := mcpclient.Wrap(inner, shy)
	defer func() { _ = c.Close() }()

	_, _ = c.Initialize(ctx, mcp.InitializeRequest{})
	for _, name := range []string{"Alice", "Voldemort"} {
		request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": name}}}
		result, err := c.CallTool(ctx, request)
		fmt.Println(result.Content[0].(mcp.TextContent).Text, result.IsError, err)
	}
	// Output:
	// hello dear Alice false <nil>
	// we do not say that name true <nil>
}

// A client's own methods, beyond the interface, are found behind the chain.
func ExampleAs() {
	inner, _ := client.NewInProcessClient(greeter())
	c := mcpclient.Wrap(mcpclient.Wrap(inner))

	found, ok := mcpclient.As[*client.Client](c)
	fmt.Println(ok, found.IsInitialized())
	// Output:
	// true false
}
