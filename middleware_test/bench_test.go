package middleware_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
)

// instant is a client whose tools cost nothing.
type instant struct{ client.MCPClient }

var instantResult = &mcp.CallToolResult{}

func (instant) Initialize(context.Context, mcp.InitializeRequest) (*mcp.InitializeResult, error) {
	return &mcp.InitializeResult{ProtocolVersion: modern}, nil
}

func (instant) CallTool(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return instantResult, nil
}

func benchmarkCallTool(b *testing.B, middlewares ...mcpclient.Middleware) {
	b.Helper()
	c := mcpclient.Wrap(instant{}, middlewares...)
	if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	ctx, request := context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if _, err := c.CallTool(ctx, request); err != nil {
			b.Fatal(err)
		}
	}
}

// The loggers and meters that a program has: none to speak of, and the full
// ones with everything on.
func discarding() *slog.Logger { return slog.New(slog.DiscardHandler) }

func writing() *slog.Logger {
	return slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func idle() metric.MeterProvider { return noop.NewMeterProvider() }

func measuring() metric.MeterProvider {
	return sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))
}

func BenchmarkDefault(b *testing.B) {
	b.Run("discarding logger, no-op meter", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(discarding(), idle())) })
	b.Run("JSON logger, SDK meter", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(writing(), measuring())) })
}

// TestDefaultAllocatesNothingItself counts allocations and therefore does not
// run beside other tests. The one is the chain's own, the copy of the request.
func TestDefaultAllocatesNothingItself(t *testing.T) {
	for name, provider := range map[string]metric.MeterProvider{"no-op meter": idle(), "SDK meter": measuring()} {
		c := mcpclient.Wrap(instant{}, middleware.Default(discarding(), provider))
		_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		ctx, request := context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
		assert.InDelta(t, 1, testing.AllocsPerRun(100, func() { _, _ = c.CallTool(ctx, request) }), 0.1, name)
	}
}

// BenchmarkEach shows where the time of Default goes.
func BenchmarkEach(b *testing.B) {
	b.Run("Logging discarding", func(b *testing.B) { benchmarkCallTool(b, middleware.Logging(discarding())) })
	b.Run("Logging JSON", func(b *testing.B) { benchmarkCallTool(b, middleware.Logging(writing())) })
	b.Run("Pages", func(b *testing.B) { benchmarkCallTool(b, middleware.Pages()) })
	b.Run("Tolerance", func(b *testing.B) { benchmarkCallTool(b, middleware.Tolerance(nil, idle())) })
	b.Run("Metrics no-op", func(b *testing.B) { benchmarkCallTool(b, middleware.Metrics(idle())) })
	b.Run("Metrics SDK", func(b *testing.B) { benchmarkCallTool(b, middleware.Metrics(measuring())) })
}
