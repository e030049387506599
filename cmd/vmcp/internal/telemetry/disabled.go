package telemetry

import (
	"net/http"
	"os"
	"strings"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// isDisabled is true if the operator switched all of it off.
func isDisabled() bool { return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") }

func (t *Telemetry) disable() {
	t.meters = metricnoop.NewMeterProvider()
	t.tracers = tracenoop.NewTracerProvider()
	t.metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "there are no metrics: OTEL_SDK_DISABLED is true", http.StatusServiceUnavailable)
	})
}
