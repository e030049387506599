package telemetry

import (
	"context"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// trace sends spans if an exporter is chosen.
func (t *Telemetry) trace(ctx context.Context, info Info, about *resource.Resource) error {
	exporter, err := newSpanExporter(ctx, info)
	if err != nil {
		return err
	}
	if exporter == nil {
		t.tracers = noop.NewTracerProvider()
		return nil
	}
	if info.Mask != nil {
		exporter = masking{exporter, info.Mask}
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(exporter))
	t.tracers = provider
	t.stop = append(t.stop, provider.Shutdown)
	return nil
}

// newSpanExporter returns nil if spans are sent nowhere.
func newSpanExporter(ctx context.Context, info Info) (sdktrace.SpanExporter, error) {
	switch exporterOf("TRACES") {
	case "none":
		return nil, nil
	case "console":
		return stdouttrace.New(stdouttrace.WithWriter(info.Console))
	default:
		exporter, err := autoexport.NewSpanExporter(ctx)
		return exporter, aboutExporter("TRACES", err)
	}
}
