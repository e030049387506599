package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/telemetry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// with sets the variables and clears those that whoever runs the tests has.
func with(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

func start(t *testing.T, info telemetry.Info) *telemetry.Telemetry {
	t.Helper()
	started, err := telemetry.Start(t.Context(), info)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, started.Shutdown(context.Background())) })
	return started
}

// use measures, traces and logs something.
func use(t *testing.T, on *telemetry.Telemetry) {
	t.Helper()
	histogram, err := on.MeterProvider().Meter("test").Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"))
	require.NoError(t, err)
	counter, err := on.MeterProvider().Meter("test").Int64Counter("candor.contradictions", metric.WithUnit("{contradiction}"))
	require.NoError(t, err)
	histogram.Record(t.Context(), 0.25, metric.WithAttributes(attribute.String("mcp.method.name", "tools/call"), attribute.String("candor.backend.id", "files")))
	counter.Add(t.Context(), 3)
	ctx, span := on.TracerProvider().Tracer("test").Start(t.Context(), "tools/call echo")
	defer span.End()
	if logs := on.LogHandler(); logs != nil {
		slog.New(logs).WarnContext(ctx, "mcp call", "backendID", "files")
	}
}

func scrape(t *testing.T, on *telemetry.Telemetry) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	on.Metrics().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Code, answer.Body.String()
}

func TestWithoutVariablesNothingIsSentAndMetricsCanBeScraped(t *testing.T) {
	with(t, nil)
	on := start(t, telemetry.Info{Version: "v1"})
	use(t, on)
	assert.Nil(t, on.LogHandler())
	_, span := on.TracerProvider().Tracer("x").Start(t.Context(), "x")
	assert.False(t, span.IsRecording())
	span.End()

	status, body := scrape(t, on)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `mcp_client_operation_duration_seconds_count{candor_backend_id="files",mcp_method_name="tools/call",`)
	assert.Contains(t, body, "candor_contradictions_total{")
	assert.Regexp(t, `target_info\{.*service_name="vmcp",service_version="v1"`, body)
	assert.Contains(t, body, "go_goroutines")
}

func TestEverySignalGoesToTheEndpointThatAVariableNames(t *testing.T) {
	receiver := newReceiver(t)
	with(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
		"OTEL_EXPORTER_OTLP_HEADERS":  "X-Tenant=mine",
		"OTEL_RESOURCE_ATTRIBUTES":    "deployment.environment.name=test,service.version=v2",
		"OTEL_SERVICE_NAME":           "front",
	})
	on := start(t, telemetry.Info{Version: "v1"})
	use(t, on)
	require.NoError(t, on.Shutdown(t.Context()))

	for path, contains := range map[string]string{
		"/v1/traces": "tools/call echo", "/v1/metrics": "mcp.client.operation.duration", "/v1/logs": "mcp call",
	} {
		got := receiver.got(path)
		assert.Contains(t, got, contains, path)
		assert.Contains(t, got, "front", path)
		assert.Contains(t, got, "v2", path)
		assert.Contains(t, got, "deployment.environment.name", path)
	}
	assert.Contains(t, receiver.got("/v1/logs"), "traceId", "the record belongs to the span")
	assert.Equal(t, "mine", receiver.header.Get("X-Tenant"))
}

func TestOneSignalAloneCanBeSent(t *testing.T) {
	receiver := newReceiver(t)
	with(t, map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": receiver.url + "/v1/traces"})
	on := start(t, telemetry.Info{})
	use(t, on)
	require.NoError(t, on.Shutdown(t.Context()))
	assert.NotEmpty(t, receiver.got("/v1/traces"))
	assert.Empty(t, receiver.got("/v1/metrics"))
	assert.Nil(t, on.LogHandler())
}

func TestConsoleWritesWhereItIsTold(t *testing.T) {
	with(t, map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console", "OTEL_LOGS_EXPORTER": "console"})
	var console buffer
	on := start(t, telemetry.Info{Console: &console})
	use(t, on)
	require.NoError(t, on.Shutdown(t.Context()))
	for _, part := range []string{"tools/call echo", "mcp.client.operation.duration", "mcp call"} {
		assert.Contains(t, console.String(), part)
	}
}

func TestSpansAreMasked(t *testing.T) {
	receiver := newReceiver(t)
	with(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url})
	on := start(t, telemetry.Info{Mask: func(text string) string { return strings.ReplaceAll(text, "hush", "***") }})
	_, span := on.TracerProvider().Tracer("test").Start(t.Context(), "call hush", trace.WithAttributes(
		attribute.String("a", "hush"), attribute.StringSlice("b", []string{"x", "hush"}), attribute.Int("c", 1)))
	span.RecordError(errors.New("said hush"))
	span.SetStatus(codes.Error, "hush")
	span.End()
	require.NoError(t, on.Shutdown(t.Context()))
	got := receiver.got("/v1/traces")
	assert.NotContains(t, got, "hush")
	assert.Equal(t, 5, strings.Count(got, "***"), got)
}

func TestAVariableThatIsWrongIsNamedAndItsValueIsNot(t *testing.T) {
	tests := map[string]string{
		"OTEL_TRACES_EXPORTER":                "jaeger-hush",
		"OTEL_METRICS_EXPORTER":               "statsd-hush",
		"OTEL_LOGS_EXPORTER":                  "hush",
		"OTEL_EXPORTER_OTLP_ENDPOINT":         "localhost:4318/hush",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":  "ftp://joe:hush@x/",
		"OTEL_EXPORTER_OTLP_PROTOCOL":         "http/hush",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json",
		"OTEL_EXPORTER_OTLP_HEADERS":          "hush",
		"OTEL_EXPORTER_OTLP_LOGS_HEADERS":     "a=%hush",
		"OTEL_EXPORTER_OTLP_TIMEOUT":          "10s",
		"OTEL_METRIC_EXPORT_INTERVAL":         "hush",
		"OTEL_TRACES_SAMPLER":                 "sometimes",
		"OTEL_TRACES_SAMPLER_ARG":             "2",
		"OTEL_RESOURCE_ATTRIBUTES":            "hush",
		"OTEL_PROPAGATORS":                    "tracecontext,hush",
		"OTEL_SDK_DISABLED":                   "hush",
	}
	for name, value := range tests {
		t.Run(name, func(t *testing.T) {
			with(t, map[string]string{name: value})
			_, err := telemetry.Start(t.Context(), telemetry.Info{})
			var wrong *telemetry.VariableError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, name, wrong.Name)
			assert.NotEmpty(t, wrong.Remedy)
			assert.NotContains(t, err.Error(), "hush")
		})
	}
}

func TestAPortThatIsTakenIsSaid(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	host, port, _ := strings.Cut(strings.TrimPrefix(taken.URL, "http://"), ":")
	with(t, map[string]string{"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_HOST": host, "OTEL_EXPORTER_PROMETHEUS_PORT": port})
	_, err := telemetry.Start(t.Context(), telemetry.Info{})
	require.ErrorContains(t, err, "OTEL_METRICS_EXPORTER")
	assert.ErrorContains(t, err, "address already in use")
}

func TestErrorsOfSendingGoToTheLogOnce(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer refusing.Close()
	with(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": refusing.URL, "OTEL_BSP_SCHEDULE_DELAY": "5"})
	var log buffer
	on := start(t, telemetry.Info{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	for n := 1; n <= 2; n++ {
		_, span := on.TracerProvider().Tracer("test").Start(t.Context(), "x")
		span.End()
		assert.Eventually(t, func() bool { return strings.Count(log.String(), "telemetry could not be sent") == n }, 5*time.Second, 5*time.Millisecond)
	}
	assert.Equal(t, 1, strings.Count(log.String(), `level=WARN msg="telemetry could not be sent" event=telemetry_failed`), log.String())
}

func TestShutdownEndsThoughNobodyAnswers(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(release)
	with(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": hanging.URL})
	on := start(t, telemetry.Info{})
	use(t, on)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	assert.Error(t, on.Shutdown(ctx))
	assert.Less(t, time.Since(began), 3*time.Second)
}

func TestDisabledMeansNothingAtAll(t *testing.T) {
	receiver := newReceiver(t)
	with(t, map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url})
	on := start(t, telemetry.Info{})
	use(t, on)
	status, body := scrape(t, on)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, "OTEL_SDK_DISABLED")
	require.NoError(t, on.Shutdown(t.Context()))
	assert.Empty(t, receiver.bodies)
}

func TestPropagatorsAreThoseOfTheVariable(t *testing.T) {
	parent := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: [16]byte{1}, SpanID: [8]byte{2}, TraceFlags: 1}))
	for names, header := range map[string]string{"": "traceparent", "b3": "b3", "tracecontext, baggage": "traceparent"} {
		t.Run(names, func(t *testing.T) {
			with(t, map[string]string{"OTEL_PROPAGATORS": names})
			on := start(t, telemetry.Info{})
			for _, propagator := range []propagation.TextMapPropagator{on.Propagator(), otel.GetTextMapPropagator()} {
				carrier := propagation.MapCarrier{}
				propagator.Inject(parent, carrier)
				assert.Contains(t, carrier, header)
			}
		})
	}
}
