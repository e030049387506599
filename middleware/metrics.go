package middleware

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Metrics measures each request in mcp.client.operation.duration and each
// connection, from its handshake to Close, in mcp.client.session.duration:
// histograms in seconds, named and described as the OpenTelemetry semantic
// conventions for MCP say. A resource URI, a session id, an argument or a
// result never becomes an attribute.
//
// A request like one that was measured before costs no allocation here, and
// no attributes are made for an instrument that is off. A nil provider means
// OpenTelemetry's global one.
func Metrics(provider metric.MeterProvider, opts ...Option) mcpclient.Middleware {
	o := apply(opts)
	meter := meterOf(provider)
	operation := histogram(meter, metricOperationDuration, "The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.")
	session := histogram(meter, metricSessionDuration, "The duration of the MCP session as observed on the MCP client.")
	return func(next mcpclient.Handler) mcpclient.Handler {
		m := &metrics{attributes: o.attributes, operation: operation, session: session, next: next}
		return m.handle
	}
}

// metrics measures one client.
type metrics struct {
	attributes []attribute.KeyValue
	operation  metric.Float64Histogram
	session    metric.Float64Histogram
	next       mcpclient.Handler
	started    atomic.Pointer[time.Time]
	known      knownSeries
}

func (m *metrics) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	start := time.Now()
	result, err := m.next(ctx, call)
	outcome := outcomeOf(ctx, call, result, err, time.Since(start))
	if call.Method == "" {
		m.ended(ctx, outcome)
		return result, err
	}
	if call.Method == mcp.MethodInitialize && err == nil {
		m.started.Store(new(start))
	}
	if m.operation.Enabled(ctx) {
		m.operation.Record(ctx, outcome.Duration.Seconds(), m.known.options(seriesOf(outcome), m.attributes)...)
	}
	return result, err
}

// ended measures the session once, when the client is closed. Of an operation's
// attributes a session has the protocol version and the error's type.
func (m *metrics) ended(ctx context.Context, outcome Outcome) {
	if start := m.started.Swap(nil); start != nil {
		closing := seriesOf(outcome)
		session := series{version: closing.version, errorType: closing.errorType}
		m.session.Record(ctx, time.Since(*start).Seconds(), session.option(m.attributes))
	}
}

// contradictionCounter counts what servers promised and do not keep.
type contradictionCounter struct {
	metric.Int64Counter
	attributes []attribute.KeyValue
}

func newContradictionCounter(provider metric.MeterProvider, attributes []attribute.KeyValue) contradictionCounter {
	counter, err := meterOf(provider).Int64Counter(metricContradictions,
		metric.WithUnit("{contradiction}"),
		metric.WithDescription("Answers that contradict what the server advertised in its handshake."))
	if err != nil {
		otel.Handle(err)
	}
	return contradictionCounter{counter, attributes}
}

func (c contradictionCounter) add(ctx context.Context, contradiction Contradiction) {
	c.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(append(slices.Clone(c.attributes),
		attribute.String(attrEvent, contradiction.Event),
		attribute.String(attrCapability, contradiction.Capability),
		attribute.String(attrMethod, string(contradiction.Method)),
	)...)))
}

func meterOf(provider metric.MeterProvider) metric.Meter {
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	return provider.Meter(scope)
}

// histogram never returns nil: with an error the API gives one that works, and
// the error goes where OpenTelemetry's errors go.
func histogram(meter metric.Meter, name, description string) metric.Float64Histogram {
	h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(durationBoundaries...))
	if err != nil {
		otel.Handle(err)
	}
	return h
}
