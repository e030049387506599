package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

// Info is what the command knows and the environment does not.
type Info struct {
	// Version becomes service.version.
	Version string
	// Logger gets what goes wrong with sending: an error of each kind once at
	// WARN, then at DEBUG. It must not lead back to LogHandler. Nil discards.
	Logger *slog.Logger
	// Mask takes secrets out of what spans say. Nil masks nothing.
	Mask func(string) string
	// Console is where the exporter "console" writes. Nil discards.
	Console io.Writer
}

// Telemetry is what was set up. It is safe for concurrent use. Whoever started
// it shuts it down.
type Telemetry struct {
	meters     metric.MeterProvider
	tracers    trace.TracerProvider
	propagator propagation.TextMapPropagator
	metrics    http.Handler
	logs       slog.Handler
	stop       []func(context.Context) error
}

// Start sets up what the environment asks for. What is wrong with it is a
// [*VariableError]. OpenTelemetry's global propagator, error handler and logger
// become those of the latest Telemetry; its global providers stay as they are.
func Start(ctx context.Context, info Info) (*Telemetry, error) {
	if info.Logger == nil {
		info.Logger = slog.New(slog.DiscardHandler)
	}
	if info.Console == nil {
		info.Console = io.Discard
	}
	if err := checkVariables(); err != nil {
		return nil, err
	}
	propagator, err := newPropagator()
	if err != nil {
		return nil, err
	}
	t := &Telemetry{propagator: propagator}
	installDiagnostics(info.Logger)
	otel.SetTextMapPropagator(propagator)
	if err := t.begin(ctx, info); err != nil {
		return nil, errors.Join(err, t.Shutdown(context.WithoutCancel(ctx)))
	}
	return t, nil
}

func (t *Telemetry) begin(ctx context.Context, info Info) error {
	if isDisabled() {
		t.disable()
		return nil
	}
	resource, err := newResource(ctx, info.Version)
	if err != nil {
		return err
	}
	if err := t.measure(ctx, info, resource); err != nil {
		return err
	}
	if err := t.trace(ctx, info, resource); err != nil {
		return err
	}
	return t.log(ctx, info, resource)
}

// MeterProvider measures for whoever scrapes and whatever is exported to.
func (t *Telemetry) MeterProvider() metric.MeterProvider { return t.meters }

// TracerProvider traces, or does nothing if traces are exported to nowhere.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracers }

// Propagator is what OTEL_PROPAGATORS says, by default W3C trace context and baggage.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return t.propagator }

// Metrics serves the metrics in Prometheus' text format or in OpenMetrics.
func (t *Telemetry) Metrics() http.Handler { return t.metrics }

// LogHandler exports log records of any level, with the span they belong to. It is nil if logs
// are exported to nowhere.
func (t *Telemetry) LogHandler() slog.Handler { return t.logs }

// flushTime is how long the last of it may take to be sent.
const flushTime = 5 * time.Second

// Shutdown sends what has not been sent, for as long as ctx and 5 s allow, and
// ends. What could not be sent is an error. After the first time it does nothing.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	stop := t.stop
	t.stop = nil
	var group errgroup.Group
	errs := make([]error, len(stop))
	for i, end := range stop {
		group.Go(func() error {
			errs[i] = end(ctx)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	return errors.Join(errs...)
}
