package instrument

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Durations measure how long the requests and the sessions of one client or
// server take. A measurement costs two allocations. They are safe for concurrent
// use.
type Durations struct {
	operation metric.Float64Histogram
	session   metric.Float64Histogram
	known     *seriesOptions
}

// ClientDurations are mcp.client.operation.duration and
// mcp.client.session.duration. Of the configuration MeterProvider, Attributes and
// SeriesLimit count.
func ClientDurations(c Config) *Durations {
	return durationsOf(c, clientOperationDuration, clientSessionDuration)
}

func serverDurations(c Config) *Durations {
	return durationsOf(c, serverOperationDuration, serverSessionDuration)
}

func durationsOf(c Config, operation, session Instrument) *Durations {
	meter := c.meter()
	return &Durations{operation.histogram(meter), session.histogram(meter), newSeriesOptions(c.orDefaults())}
}

// Enabled says whether anybody reads them.
func (d *Durations) Enabled(ctx context.Context) bool {
	return d.operation.Enabled(ctx) || d.session.Enabled(ctx)
}

// Operation records how long a request took.
func (d *Durations) Operation(ctx context.Context, took time.Duration, of Series) {
	d.operation.Record(ctx, took.Seconds(), d.known.recordOptions(of)...)
}

// Session records how long a session lasted. Of a request's attributes a session
// has the error's.
func (d *Durations) Session(ctx context.Context, lasted time.Duration, of Series) {
	d.session.Record(ctx, lasted.Seconds(), d.known.recordOptions(of)...)
}
