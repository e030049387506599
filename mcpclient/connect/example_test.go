package connect_test

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-candor/candor/mcpclient/connect"
)

// A server in this process; connect.HTTP, connect.SSE and connect.Stdio are
// opened the same way.
func ExampleOpen() {
	greeter := server.NewMCPServer("greeter", "1.0.0", server.WithToolCapabilities(false))
	greeter.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})

	ctx := context.Background()
	client, err := connect.Open(ctx, connect.InProcess{Server: greeter})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	handshake, _ := client.Server()
	fmt.Println(handshake.ServerInfo.Name, "speaks", handshake.ProtocolVersion)
	tools, err := client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range tools.Tools {
		fmt.Println("tool:", tool.Name)
	}
	// Output:
	// greeter speaks 2026-07-28
	// tool: hello
}

// The error says at which stage the opening failed and what to do about it.
func ExampleError() {
	_, err := connect.Open(context.Background(), connect.Stdio{Command: "no-such-server"})
	fmt.Println(err)
	// Output:
	// connect to no-such-server: the start failed: exec: "no-such-server": executable file not found in $PATH; install the command, or give its full path
}
