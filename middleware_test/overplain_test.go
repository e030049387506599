package middleware_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
)

// BenchmarkOverPlain is the figure that the project promises: what a call costs
// more than through a client without a middleware. It takes turns between the
// two and reports the median, so that what else the machine does counts for
// both.
func BenchmarkOverPlain(b *testing.B) {
	b.Run("JSON logs, metrics", func(b *testing.B) { overPlain(b, middleware.Default(writing(), measuring(), untraced())) })
	b.Run("JSON logs, metrics, all traces", func(b *testing.B) { overPlain(b, middleware.Default(writing(), measuring(), traced(1))) })
}

func overPlain(b *testing.B, chain mcpclient.Middleware) {
	b.Helper()
	plain, with := handshaken(b), handshaken(b, chain)
	var more []time.Duration
	for b.Loop() {
		more = append(more, hundredCalls(with)-hundredCalls(plain))
	}
	slices.Sort(more)
	b.ReportMetric(0, "ns/op") // of two hundred calls: it says nothing
	b.ReportMetric(float64(more[len(more)/2])/100, "ns/call-over-plain")
}

func handshaken(b *testing.B, middlewares ...mcpclient.Middleware) *mcpclient.Client {
	b.Helper()
	c := mcpclient.Wrap(instant{}, middlewares...)
	if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	return c
}

func hundredCalls(c *mcpclient.Client) time.Duration {
	ctx, request := context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
	start := time.Now()
	for range 100 {
		_, _ = c.CallTool(ctx, request)
	}
	return time.Since(start)
}
