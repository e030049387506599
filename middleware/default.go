package middleware

import (
	"log/slog"

	"github.com/mcp-candor/candor/mcpclient"
	"go.opentelemetry.io/otel/metric"
)

// Default is the recommended stack:
//
//	Default = Logging -> Pages -> Tolerance -> Tracing -> Metrics
//
// Logging is outermost and writes one record per call with the outcome its
// caller got. Pages turns a whole list into its pages, so that Tolerance can
// tell the first from the others. Tracing and Metrics are innermost and see
// each request: a forgiven -32601 still failed on the wire. A measurement's
// exemplar names the span of its request.
//
// A nil logger discards; a nil provider means OpenTelemetry's global one, and so
// does a missing [WithTracerProvider].
func Default(logger *slog.Logger, provider metric.MeterProvider, opts ...Option) mcpclient.Middleware {
	return mcpclient.Chain(
		Logging(logger, opts...),
		Pages(opts...),
		Tolerance(logger, provider, opts...),
		Tracing(apply(opts).TracerProvider, opts...),
		Metrics(provider, opts...),
	)
}
