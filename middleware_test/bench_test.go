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
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
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

// The tracers that a program has: none, and the SDK's, which keeps every span
// or, as in production, few.
func untraced() middleware.Option {
	return middleware.WithTracerProvider(tracenoop.NewTracerProvider())
}

func traced(ratio float64) middleware.Option {
	return middleware.WithTracerProvider(sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.TraceIDRatioBased(ratio)),
		sdktrace.WithSpanProcessor(dropping{})))
}

// dropping takes the place of an exporter.
type dropping struct{}

func (dropping) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (dropping) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (dropping) Shutdown(context.Context) error                  { return nil }
func (dropping) ForceFlush(context.Context) error                { return nil }

// BenchmarkDefault is what the default chain costs over the plain client, which
// is the first line: its logs, metrics and traces on and off.
func BenchmarkDefault(b *testing.B) {
	b.Run("without a middleware", func(b *testing.B) { benchmarkCallTool(b) })
	b.Run("all off", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(discarding(), idle(), untraced())) })
	b.Run("JSON logs", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(writing(), idle(), untraced())) })
	b.Run("metrics", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(discarding(), measuring(), untraced())) })
	b.Run("JSON logs, metrics", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(writing(), measuring(), untraced())) })
	b.Run("JSON logs, metrics, 1% of traces", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(writing(), measuring(), traced(0.01))) })
	b.Run("JSON logs, metrics, all traces", func(b *testing.B) { benchmarkCallTool(b, middleware.Default(writing(), measuring(), traced(1))) })
}

// TestWhatDefaultAllocates counts allocations and therefore does not run beside
// other tests. One is the chain's own, the copy of the request: what is off adds
// none.
func TestWhatDefaultAllocates(t *testing.T) {
	for name, test := range map[string]struct {
		chain mcpclient.Middleware
		most  float64
	}{
		"without a middleware": {nil, 1},
		"all off":              {middleware.Default(discarding(), idle(), untraced()), 1},
		"no SDK at all":        {middleware.Default(nil, nil), 1},
		"metrics":              {middleware.Default(discarding(), measuring(), untraced()), 2},
		"JSON logs":            {middleware.Default(writing(), idle(), untraced()), 3},
		"JSON logs, metrics":   {middleware.Default(writing(), measuring(), untraced()), 4},
	} {
		c := mcpclient.Wrap(instant{}, test.chain)
		_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		ctx, request := context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}}
		got := testing.AllocsPerRun(100, func() { _, _ = c.CallTool(ctx, request) })
		assert.LessOrEqual(t, got, test.most+0.1, name)
	}
}

// BenchmarkEach shows where the time of Default goes.
func BenchmarkEach(b *testing.B) {
	b.Run("Logging discarding", func(b *testing.B) { benchmarkCallTool(b, middleware.Logging(discarding())) })
	b.Run("Logging JSON", func(b *testing.B) { benchmarkCallTool(b, middleware.Logging(writing())) })
	b.Run("Pages", func(b *testing.B) { benchmarkCallTool(b, middleware.Pages()) })
	b.Run("Tolerance", func(b *testing.B) { benchmarkCallTool(b, middleware.Tolerance(nil, idle())) })
	b.Run("Tracing no-op", func(b *testing.B) { benchmarkCallTool(b, middleware.Tracing(tracenoop.NewTracerProvider())) })
	b.Run("Metrics no-op", func(b *testing.B) { benchmarkCallTool(b, middleware.Metrics(idle())) })
	b.Run("Metrics SDK", func(b *testing.B) { benchmarkCallTool(b, middleware.Metrics(measuring())) })
}
