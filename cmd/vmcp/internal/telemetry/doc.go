// Package telemetry sets OpenTelemetry up for the command vmcp by the standard
// OTEL_* environment variables, and keeps the last word on three things:
//
//   - Nothing is sent anywhere unless a variable asks for it: an exporter
//     (OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_LOGS_EXPORTER) or an OTLP
//     endpoint. The SDK's own default would be a collector on this machine.
//   - A variable that would be ignored, or that would make the SDK print
//     its value, is a [*VariableError] at the start that names the variable and
//     never its value: headers and endpoints may hold secrets.
//   - The exporter "console" writes where the command logs, not to standard output, which
//     may carry the protocol.
//
// Metrics can be scraped in any case: [Telemetry.Metrics] serves them in Prometheus'
// format from a registry of its own.
package telemetry
