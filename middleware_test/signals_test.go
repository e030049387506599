package middleware_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// signals are a log, metrics and traces that can be read as one text.
type signals struct {
	log    *lockedBuffer
	logger *slog.Logger
	reader *metric.ManualReader
	meters *metric.MeterProvider
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
}

func newSignals(t *testing.T) *signals {
	t.Helper()
	s := &signals{log: &lockedBuffer{}, spans: tracetest.NewSpanRecorder()}
	s.logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	s.reader = metric.NewManualReader(metric.WithTemporalitySelector(func(metric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }))
	s.meters = metric.NewMeterProvider(metric.WithReader(s.reader))
	s.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans))
	t.Cleanup(func() {
		assert.NoError(t, s.meters.Shutdown(context.Background()))
		assert.NoError(t, s.tracer.Shutdown(context.Background()))
	})
	return s
}

func (s *signals) chain() mcpclient.Middleware {
	return middleware.Default(s.logger, s.meters, middleware.WithTracerProvider(s.tracer))
}

// caller returns a context with the span of whoever calls.
func (s *signals) caller(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab}, SpanID: trace.SpanID{0xcd}, TraceFlags: trace.FlagsSampled,
	}))
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}

// What differs from run to run.
var (
	port    = regexp.MustCompile(`(127\.0\.0\.1:|server\.port=)\d+`)
	session = regexp.MustCompile(`mcp\.session\.id=\S+`)
)

func settled(text string) string {
	return session.ReplaceAllString(port.ReplaceAllString(text, "${1}PORT"), "mcp.session.id=SESSION")
}

// emitted is everything since the last time that somebody looked.
func (s *signals) emitted(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	for line := range strings.Lines(s.log.take()) {
		text.WriteString("log     " + line)
	}
	for _, span := range s.spans.Ended() {
		text.WriteString("span    " + spanText(span) + "\n")
	}
	s.spans.Reset()
	for _, line := range s.measured(t) {
		text.WriteString("metric  " + line + "\n")
	}
	return settled(text.String())
}

func spanText(span sdktrace.ReadOnlySpan) string {
	parent := "a child of the caller's"
	if span.Parent().SpanID() != (trace.SpanID{0xcd}) || span.SpanContext().TraceID() != (trace.TraceID{0xab}) {
		parent = "a root"
	}
	text := fmt.Sprintf("%q %s, %s, %s", span.Name(), span.SpanKind(), parent, span.Status().Code)
	if span.Status().Description != "" {
		text += fmt.Sprintf(" %q", span.Status().Description)
	}
	return text + attributesText(attribute.NewSet(span.Attributes()...))
}

func attributesText(set attribute.Set) string {
	var text strings.Builder
	for _, each := range set.ToSlice() {
		fmt.Fprintf(&text, " %s=%s", each.Key, each.Value.String())
	}
	return text.String()
}

func (s *signals) measured(t *testing.T) []string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if !assert.NoError(t, s.reader.Collect(context.Background(), &all)) {
		return nil
	}
	var lines []string
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			lines = append(lines, pointsText(m)...)
		}
	}
	slices.Sort(lines)
	return lines
}

func pointsText(m metricdata.Metrics) []string {
	var lines []string
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			lines = append(lines, fmt.Sprintf("%s [%s] count=%d exemplars=%d%s", m.Name, m.Unit, p.Count, len(p.Exemplars), attributesText(p.Attributes)))
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			lines = append(lines, fmt.Sprintf("%s [%s] %d%s", m.Name, m.Unit, p.Value, attributesText(p.Attributes)))
		}
	}
	return lines
}

// lockedBuffer is written to and read by different goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.out.Reset()
	return b.out.String()
}

// value is an attribute as a text, empty where it is missing.
func value(attributes []attribute.KeyValue, key attribute.Key) string {
	for _, each := range attributes {
		if each.Key == key {
			return each.Value.String()
		}
	}
	return ""
}
