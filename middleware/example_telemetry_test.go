package middleware_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// existing is a client that a program has already, initialised and all.
func existing(s *mcpserver.MCPServer) *client.Client {
	c, _ := client.NewInProcessClient(s)
	_ = c.Start(context.Background())
	_, _ = c.Initialize(context.Background(), mcp.InitializeRequest{})
	return c
}

func calling(c client.MCPClient, tool string) {
	_, _ = c.CallTool(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool}})
}

// Only metrics, added to a client that exists. The program brings the provider:
// here one that is read by hand.
func ExampleMetrics() {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))

	c := mcpclient.Wrap(existing(boasting()), middleware.Metrics(provider))
	calling(c, "echo")
	calling(c, "unknown")
	_ = c.Close()

	var collected metricdata.ResourceMetrics
	_ = reader.Collect(context.Background(), &collected)
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if histogram, ok := m.Data.(metricdata.Histogram[float64]); ok {
			for _, p := range histogram.DataPoints {
				tool, _ := p.Attributes.Value("gen_ai.tool.name")
				failure, _ := p.Attributes.Value("error.type")
				fmt.Printf("%s tool=%s error=%s count=%d\n", m.Name, tool.AsString(), failure.AsString(), p.Count)
			}
		}
	}
	// Unordered output:
	// mcp.client.operation.duration tool=echo error= count=1
	// mcp.client.operation.duration tool=unknown error=-32602 count=1
}

// Contradictions go to a file of their own, one JSON object a line, for whoever
// writes to the servers' authors. The program's log does not change.
func ExampleOnContradiction_file() {
	folder, _ := os.MkdirTemp("", "candor")
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "contradictions.jsonl")
	file, _ := os.Create(path)
	feed := json.NewEncoder(file)
	keep := middleware.OnContradiction(func(_ context.Context, found middleware.Contradiction) { _ = feed.Encode(found) })

	c := mcpclient.Wrap(existing(boasting()), middleware.Default(nil, nil, keep))
	prompts, err := c.ListPrompts(context.Background(), mcp.ListPromptsRequest{})
	fmt.Println(len(prompts.Prompts), err)
	_ = c.Close()
	_ = file.Close()

	written, _ := os.ReadFile(path)
	fmt.Print(string(written))
	// Output:
	// 0 <nil>
	// {"event":"capability_contradiction","capability":"prompts","method":"prompts/list","code":-32601,"message":"prompts not supported","protocolVersion":"2026-07-28"}
}

// Of the calls that succeed every third is logged, of those that fail all: the
// level is a function. What is below the logger's level costs next to nothing.
func ExampleWithLevel_sampling() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: timeless}))
	var calls atomic.Int64
	sampled := middleware.WithLevel(func(outcome instrument.Outcome) slog.Level {
		if outcome.Kind != instrument.OutcomeOK {
			return middleware.DefaultLevel(outcome)
		}
		if calls.Add(1)%3 == 1 {
			return slog.LevelInfo
		}
		return slog.LevelDebug
	})

	c := mcpclient.Wrap(existing(boasting()), middleware.Logging(logger, sampled))
	defer func() { _ = c.Close() }()
	for range 4 {
		calling(c, "echo")
	}
	calling(c, "unknown")
	// Output:
	// level=INFO msg="mcp call" operation=CallTool method=tools/call tool=echo outcome=ok
	// level=INFO msg="mcp call" operation=CallTool method=tools/call tool=echo outcome=ok
	// level=WARN msg="mcp call" operation=CallTool method=tools/call tool=unknown outcome=error code=-32602 error="invalid params: tool 'unknown' not found: tool not found"
}

// A middleware of one's own takes three lines: this one counts calls per tool.
func ExampleDefault_countCalls() {
	counts := map[string]int{}
	counting := mcpclient.For(func(ctx context.Context, request *mcp.CallToolRequest,
		next mcpclient.Next[mcp.CallToolRequest, mcp.CallToolResult],
	) (*mcp.CallToolResult, error) {
		counts[request.Params.Name]++ // one goroutine calls here; else it needs a lock
		return next(ctx, request)
	})

	c := mcpclient.Wrap(existing(boasting()), counting, middleware.Default(nil, nil))
	defer func() { _ = c.Close() }()
	calling(c, "echo")
	calling(c, "echo")
	calling(c, "unknown")
	fmt.Println(counts)
	// Output:
	// map[echo:2 unknown:1]
}

// An HTTP handler calls a tool, and the trace that its request came with goes on:
// through the span of the tool call to the MCP server, which finds it in _meta.
func ExampleTracing() {
	s := mcpserver.NewMCPServer("acme", "1")
	s.AddTool(mcp.NewTool("weather"), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Println("the MCP server joins", request.Params.Meta.AdditionalFields["traceparent"].(string)[:35])
		return mcp.NewToolResultText("sunny"), nil
	})
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(printing{}))
	c := mcpclient.Wrap(existing(s), middleware.Tracing(provider))
	defer func() { _ = c.Close() }()

	// Most programs have otelhttp for this line.
	joined := propagation.TraceContext{}
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := joined.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		_, _ = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "weather"}})
	}))
	defer endpoint.Close()

	request, _ := http.NewRequest(http.MethodGet, endpoint.URL, nil)
	request.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	// Output:
	// the MCP server joins 00-4bf92f3577b34da6a3ce929d0e0e4736
	// span "tools/call weather" client of trace 4bf92f3577b34da6a3ce929d0e0e4736, parent 00f067aa0ba902b7
}

// printing takes the place of an exporter.
type printing struct{}

func (printing) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		if span.SpanKind() == trace.SpanKindClient {
			fmt.Printf("span %q %s of trace %s, parent %s\n", span.Name(), span.SpanKind(), span.SpanContext().TraceID(), span.Parent().SpanID())
		}
	}
	return nil
}

func (printing) Shutdown(context.Context) error { return nil }
