package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// measure lets metrics be scraped and, if an exporter is chosen, sent.
func (t *Telemetry) measure(ctx context.Context, info Info, about *resource.Resource) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	scraped, err := promexporter.New(promexporter.WithRegisterer(registry))
	if err != nil {
		return err
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithReader(scraped)}
	pushed, err := newReader(ctx, info)
	if err != nil {
		return err
	}
	if pushed != nil {
		options = append(options, sdkmetric.WithReader(pushed))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.meters = provider
	t.metrics = handlerOf(registry, info)
	t.stop = append(t.stop, provider.Shutdown) // which sends what is left
	return nil
}

// newReader returns nil if metrics are sent nowhere.
func newReader(ctx context.Context, info Info) (sdkmetric.Reader, error) {
	switch exporterOf("METRICS") {
	case "none":
		return nil, nil
	case "console":
		exporter, err := stdoutmetric.New(stdoutmetric.WithWriter(info.Console))
		if err != nil {
			return nil, err
		}
		return sdkmetric.NewPeriodicReader(exporter), nil
	default:
		reader, err := autoexport.NewMetricReader(ctx)
		return reader, aboutExporter("METRICS", err)
	}
}

// handlerOf serves a few scrapes at a time: each gathers everything.
func handlerOf(registry *prometheus.Registry, info Info) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            scrapeLog{info.Logger},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            registry,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
		EnableOpenMetrics:   true,
	})
}
