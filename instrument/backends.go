package instrument

import (
	"context"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Backends measure what happens to the backends of a session, under names
// that begin with "candor."; [AttributeBackendID] is on all of them. Package vmcp
// uses them; who builds sessions otherwise can, too. They are safe for concurrent
// use, and those of one provider may be made any number of times.
type Backends struct {
	config    Config
	backends  metric.Int64UpDownCounter
	setUp     metric.Float64Histogram
	fallbacks metric.Int64Counter
}

// NewBackends makes them; of the configuration MeterProvider and Attributes count.
func NewBackends(c Config) *Backends {
	meter := c.meter()
	return &Backends{
		config:    c,
		backends:  backendCount.upDownCounter(meter),
		setUp:     sessionSetupDuration.histogram(meter),
		fallbacks: protocolFallbackCount.counter(meter),
	}
}

// State moves a backend of one session from one state to another in
// candor.backends, which counts for each backend in how many sessions it is
// "ready", "degraded", "failed" and so on. An empty from is a backend that
// joins, an empty to one that leaves; every backend that joined must leave.
func (b *Backends) State(ctx context.Context, backendID, from, to string) {
	if from != "" {
		b.backends.Add(ctx, -1, b.about(backendID, attribute.String(attrBackendState, from)))
	}
	if to != "" {
		b.backends.Add(ctx, 1, b.about(backendID, attribute.String(attrBackendState, to)))
	}
}

// SetUp measures in candor.session.setup.duration how long a backend took until
// it could be used or, with its error.type, failed.
func (b *Backends) SetUp(ctx context.Context, backendID string, took time.Duration, err error) {
	var more []attribute.KeyValue
	if err != nil {
		more = append(more, attribute.String(attrErrorType, OutcomeOf(ctx, mcpclient.Call{}, nil, err, took, nil).ErrorType()))
	}
	b.setUp.Record(ctx, took.Seconds(), b.about(backendID, more...))
}

// Fallback counts in candor.protocol_fallbacks that a backend could not be used
// on the newest protocol; version is the one that it was asked for instead.
func (b *Backends) Fallback(ctx context.Context, backendID, version string) {
	b.fallbacks.Add(ctx, 1, b.about(backendID, text(nil, attrProtocolVersion, version)...))
}

func (b *Backends) about(backendID string, more ...attribute.KeyValue) metric.MeasurementOption {
	return b.config.with(append(more, attribute.String(AttributeBackendID, backendID))...)
}
