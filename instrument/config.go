package instrument

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name under which OpenTelemetry knows who measures: that of the
// package where it began.
const scope = "github.com/mcp-candor/candor/middleware"

// A Config is how something is measured and traced. The zero value is good.
type Config struct {
	// MeterProvider and TracerProvider take what is recorded. Nil means
	// OpenTelemetry's global one.
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
	// Propagator is the format of the trace's context in params._meta. Nil means
	// the W3C's, whatever OpenTelemetry's global one is: MCP names those keys
	// (SEP-414).
	Propagator propagation.TextMapPropagator
	// Attributes are on everything that is recorded, and win.
	Attributes []attribute.KeyValue
	// SeriesLimit bounds the names on metrics. Nil is a limit of
	// DefaultSeriesLimit for each user of the configuration.
	SeriesLimit *SeriesLimit
	// Mask takes secrets out of the texts on spans. Nil changes nothing.
	Mask func(string) string
}

var w3c = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// orDefaults fills what is missing, but the providers.
func (c Config) orDefaults() Config {
	if c.Propagator == nil {
		c.Propagator = w3c
	}
	if c.SeriesLimit == nil {
		c.SeriesLimit = NewSeriesLimit(DefaultSeriesLimit)
	}
	if c.Mask == nil {
		c.Mask = func(text string) string { return text }
	}
	return c
}

func (c Config) meter() metric.Meter {
	if c.MeterProvider == nil {
		return otel.GetMeterProvider().Meter(scope)
	}
	return c.MeterProvider.Meter(scope)
}

// with makes an option of the attributes and more.
func (c Config) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, c.Attributes...)...))
}
