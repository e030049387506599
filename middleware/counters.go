package middleware

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// contradictionCounters count what servers promised and do not keep, and lists
// that are none.
type contradictionCounters struct {
	attributes     []attribute.KeyValue
	contradictions metric.Int64Counter
	malformed      metric.Int64Counter
}

func newContradictionCounters(provider metric.MeterProvider, attributes []attribute.KeyValue) contradictionCounters {
	meter := meterOf(provider)
	return contradictionCounters{attributes, contradictionCount.counter(meter), malformedListCount.counter(meter)}
}

func (c contradictionCounters) add(ctx context.Context, found Contradiction) {
	counter := c.contradictions
	if found.Event == EventMalformedList {
		counter = c.malformed
	}
	counter.Add(ctx, 1, with(c.attributes,
		attribute.String(attrCapability, found.Capability),
		attribute.String(attrMethod, methodName(found.Method))))
}
