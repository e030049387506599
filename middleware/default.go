package middleware

import (
	"log/slog"

	"github.com/mcp-candor/candor/mcpclient"
	"go.opentelemetry.io/otel/metric"
)

// Default is the recommended stack:
//
//	Default = Logging -> Pages -> Tolerance -> Metrics
//
// Logging is outermost and writes one record per call with the outcome its
// caller got. Pages turns a whole list into its pages, so that Tolerance can
// tell the first from the others. Metrics are innermost and measure each
// request: a forgiven -32601 still failed on the wire.
//
// A nil logger discards; a nil provider means OpenTelemetry's global one.
func Default(logger *slog.Logger, provider metric.MeterProvider, opts ...Option) mcpclient.Middleware {
	return mcpclient.Chain(
		Logging(logger, opts...),
		Pages(opts...),
		Tolerance(logger, provider, opts...),
		Metrics(provider, opts...),
	)
}
