package middleware_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// spans is an OpenTelemetry SDK whose spans can be read.
type spans struct {
	*trace.TracerProvider
	recorder *tracetest.SpanRecorder
}

func newSpans(t testing.TB, options ...trace.TracerProviderOption) spans {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(append(options, trace.WithSpanProcessor(recorder))...)
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	return spans{provider, recorder}
}

// names are the names of the spans that have ended.
func (s spans) names() []string {
	var names []string
	for _, span := range s.recorder.Ended() {
		names = append(names, span.Name())
	}
	return names
}

// overInProcess is mcp-go's own client of a server of its own.
func overInProcess(t testing.TB, options ...client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(transport.NewInProcessTransport(boasting()), options...)
	require.NoError(t, c.Start(t.Context()))
	t.Cleanup(func() { _ = c.Close() })
	return c
}
