package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// noting is a meter that writes each measurement down.
type (
	noting struct {
		noop.MeterProvider
		down func(string)
	}
	notingMeter struct {
		noop.Meter
		down func(string)
	}
	notingHistogram struct {
		noop.Float64Histogram
		down func(string)
	}
	notingCounter struct {
		noop.Int64Counter
		down func(string)
	}
)

func (n noting) Meter(string, ...metric.MeterOption) metric.Meter { return notingMeter{down: n.down} }

func (n notingMeter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return notingHistogram{down: func(attributes string) { n.down("    measured " + name + attributes) }}, nil
}

func (n notingMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return notingCounter{down: func(attributes string) { n.down("   counted " + name + attributes) }}, nil
}

func (notingHistogram) Enabled(context.Context) bool { return true }

func (n notingHistogram) Record(_ context.Context, _ float64, opts ...metric.RecordOption) {
	n.down(written(metric.NewRecordConfig(opts).Attributes()))
}

func (n notingCounter) Add(_ context.Context, _ int64, opts ...metric.AddOption) {
	n.down(written(metric.NewAddConfig(opts).Attributes()))
}

// written are the attributes that tell a failure.
func written(set attribute.Set) string {
	failure, ok := set.Value("error.type")
	if !ok {
		return ""
	}
	return " " + failure.AsString()
}

// TestTheOrderOfDefault shows, with one transcript, that
//
//	Default = Logging -> Pages -> Tolerance -> Metrics
//
// Logging writes one record per call with the outcome its caller got,
// Tolerance speaks about single pages, and Metrics measure what was on the
// wire. The deeper something is in the chain, the further it is to the right.
func TestTheOrderOfDefault(t *testing.T) {
	t.Parallel()
	var transcript strings.Builder
	down := func(line string) { transcript.WriteString(line + "\n") }
	logger := slog.New(slog.NewTextHandler(&transcript, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: onlyWhatTells}))

	s := tools.promising(tools.of("2", "a"))
	s.answers["tools/list 2"] = tools.of("", "b")
	s.answers["resources/list"] = unknownMethod
	s.answers["prompts/list"] = prompts.of("2", "p")
	s.answers["prompts/list 2"] = unknownMethod
	s.answers["tools/call"] = `{"isError":true,"content":[]}`
	s.note = func(request string) { down("      asked " + request) }
	c := s.connect(t, legacy, middleware.Default(logger, noting{down: down}))

	for range 2 {
		_, _ = c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	}
	_, _ = c.ListTools(t.Context(), mcp.ListToolsRequest{})
	_, _ = c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
	_, _ = c.CallTool(t.Context(), mcp.CallToolRequest{})
	require.NoError(t, c.Close())

	assert.Equal(t, `      asked initialize
    measured mcp.client.operation.duration
level=DEBUG msg="mcp call" operation=Initialize outcome=ok
      asked resources/list
    measured mcp.client.operation.duration -32601
   counted candor.contradictions
level=WARN msg="the server advertises resources, but answers resources/list with -32601 \"Unknown method\""
level=DEBUG msg="mcp call" operation=ListResources outcome=ok
      asked resources/list
    measured mcp.client.operation.duration -32601
   counted candor.contradictions
level=DEBUG msg="the server advertises resources, but answers resources/list with -32601 \"Unknown method\""
level=DEBUG msg="mcp call" operation=ListResources outcome=ok
      asked tools/list
    measured mcp.client.operation.duration
      asked tools/list 2
    measured mcp.client.operation.duration
level=DEBUG msg="mcp call" operation=ListTools outcome=ok
      asked prompts/list
    measured mcp.client.operation.duration
      asked prompts/list 2
    measured mcp.client.operation.duration -32601
level=WARN msg="mcp call" operation=ListPrompts outcome=error
      asked tools/call
    measured mcp.client.operation.duration tool_error
level=INFO msg="mcp call" operation=CallTool outcome=tool_error
    measured mcp.client.session.duration
level=DEBUG msg="mcp call" operation=Close outcome=ok
`, transcript.String())
}

// onlyWhatTells keeps the fields that tell who wrote a record, and of what.
func onlyWhatTells(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.LevelKey, slog.MessageKey, "operation", "outcome":
		return a
	}
	return slog.Attr{}
}

// TestTheChainLeavesOtherCallsAsTheyAre compares the default chain with
// mcp-go's own client, for each method and answer.
func TestTheChainLeavesOtherCallsAsTheyAre(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		for _, answer := range []any{`{"content":[{"type":"text","text":"hello"}]}`, `{"isError":true,"content":[]}`, unknownMethod, fault{-32602, "no"}, fault{-32000, "no"}, errBroken, "7"} {
			s := tools.promising(tools.of(""))
			s.answers["tools/call"] = answer
			want, wantErr := s.direct(t, era).CallTool(t.Context(), mcp.CallToolRequest{})
			got, err := s.connect(t, era, middleware.Default(nil, nil)).CallTool(t.Context(), mcp.CallToolRequest{})
			assert.Equal(t, want, got, fmt.Sprint(answer))
			assert.Equal(t, wantErr, err, fmt.Sprint(answer))
		}
	})
}
