package mcpclient_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// instant is a client whose tools cost nothing.
type instant struct{ client.MCPClient }

var instantResult = &mcp.CallToolResult{}

func (instant) CallTool(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return instantResult, nil
}

func benchmarkCallTool(b *testing.B, c client.MCPClient) {
	b.Helper()
	b.ReportAllocs()
	ctx, request := context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
	for b.Loop() {
		if _, err := c.CallTool(ctx, request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDirect(b *testing.B) { benchmarkCallTool(b, instant{}) }

// BenchmarkChain is the cost of the chain itself.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{0, 1, 3} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			middlewares := make([]mcpclient.Middleware, n)
			for i := range middlewares {
				middlewares[i] = pass
			}
			benchmarkCallTool(b, mcpclient.Wrap(instant{}, middlewares...))
		})
	}
}

// BenchmarkFor is the cost of having the types back.
func BenchmarkFor(b *testing.B) {
	benchmarkCallTool(b, mcpclient.Wrap(instant{}, mcpclient.For(passTool())))
}
