package middleware

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Each of these never returns nil: with an error the API gives an instrument
// that works, and the error goes where OpenTelemetry's errors go.

func (i instrument) histogram(meter metric.Meter) metric.Float64Histogram {
	return made(meter.Float64Histogram(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description),
		metric.WithExplicitBucketBoundaries(durationBoundaries...)))
}

func (i instrument) counter(meter metric.Meter) metric.Int64Counter {
	return made(meter.Int64Counter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description)))
}

func (i instrument) upDownCounter(meter metric.Meter) metric.Int64UpDownCounter {
	return made(meter.Int64UpDownCounter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description)))
}

func (i instrument) observed(meter metric.Meter) metric.Int64ObservableUpDownCounter {
	return made(meter.Int64ObservableUpDownCounter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description)))
}

func made[T any](instrument T, err error) T {
	if err != nil {
		otel.Handle(err)
	}
	return instrument
}

func meterOf(provider metric.MeterProvider) metric.Meter {
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	return provider.Meter(scope)
}

// with makes an option of attributes and more.
func with(attributes []attribute.KeyValue, more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, attributes...)...))
}
