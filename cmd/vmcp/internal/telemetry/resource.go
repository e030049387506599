package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// newResource says who sends: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
// have the last word. The process's arguments are left out: they may be secrets.
func newResource(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "vmcp"), attribute.String("service.version", version)),
		resource.WithFromEnv(),
	)
}
