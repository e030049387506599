package telemetry

import (
	"context"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
)

// scope is whose log records they are.
const scope = "github.com/mcp-candor/candor/cmd/vmcp"

// log sends log records if an exporter is chosen.
func (t *Telemetry) log(ctx context.Context, info Info, about *resource.Resource) error {
	exporter, err := newLogExporter(ctx, info)
	if err != nil || exporter == nil {
		return err
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	t.logs = otelslog.NewHandler(scope, otelslog.WithLoggerProvider(provider), otelslog.WithVersion(info.Version))
	t.stop = append(t.stop, provider.Shutdown)
	return nil
}

// newLogExporter returns nil if log records are sent nowhere.
func newLogExporter(ctx context.Context, info Info) (sdklog.Exporter, error) {
	switch exporterOf("LOGS") {
	case "none":
		return nil, nil
	case "console":
		return stdoutlog.New(stdoutlog.WithWriter(info.Console))
	default:
		exporter, err := autoexport.NewLogExporter(ctx)
		return exporter, aboutExporter("LOGS", err)
	}
}
