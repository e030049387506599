package instrument_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
