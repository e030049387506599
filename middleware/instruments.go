package middleware

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Instruments measure what happens to the backends of a session, under names
// that begin with "candor."; [AttributeBackendID] is on all of them. Package vmcp
// uses them; who builds sessions otherwise can, too. They are safe for concurrent
// use, and those of one provider may be made any number of times.
type Instruments struct {
	attributes []attribute.KeyValue
	backends   metric.Int64UpDownCounter
	setUp      metric.Float64Histogram
	fallbacks  metric.Int64Counter
}

// NewInstruments makes them; of the options [WithAttributes] counts. A nil
// provider means OpenTelemetry's global one.
func NewInstruments(provider metric.MeterProvider, opts ...Option) *Instruments {
	meter := meterOf(provider)
	return &Instruments{
		attributes: apply(opts).attributes,
		backends:   backendCount.upDownCounter(meter),
		setUp:      sessionSetupDuration.histogram(meter),
		fallbacks:  protocolFallbackCount.counter(meter),
	}
}

// State moves a backend of one session from one state to another in
// candor.backends, which counts for each backend in how many sessions it is
// "ready", "degraded", "failed" and so on. An empty from is a backend that
// joins, an empty to one that leaves; every backend that joined must leave.
func (i *Instruments) State(ctx context.Context, backendID, from, to string) {
	if from != "" {
		i.backends.Add(ctx, -1, i.about(backendID, attribute.String(attrBackendState, from)))
	}
	if to != "" {
		i.backends.Add(ctx, 1, i.about(backendID, attribute.String(attrBackendState, to)))
	}
}

// SetUp measures in candor.session.setup.duration how long a backend took until
// it could be used or, with its error.type, failed.
func (i *Instruments) SetUp(ctx context.Context, backendID string, took time.Duration, err error) {
	var more []attribute.KeyValue
	if err != nil {
		more = append(more, attribute.String(attrErrorType, Outcome{Err: err, Kind: kindOf(ctx, nil, err)}.errorType()))
	}
	i.setUp.Record(ctx, took.Seconds(), i.about(backendID, more...))
}

// Fallback counts in candor.protocol_fallbacks that a backend could not be used
// on the newest protocol; version is the one that it was asked for instead.
func (i *Instruments) Fallback(ctx context.Context, backendID, version string) {
	i.fallbacks.Add(ctx, 1, i.about(backendID, text(nil, attrProtocolVersion, version)...))
}

func (i *Instruments) about(backendID string, more ...attribute.KeyValue) metric.MeasurementOption {
	return with(i.attributes, append(more, attribute.String(AttributeBackendID, backendID))...)
}
