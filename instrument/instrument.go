package instrument

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// An Instrument is what is measured under one name.
type Instrument struct{ Name, Unit, Description string }

// All are all instruments of this project, for those who draw dashboards.
// Durations are histograms with the boundaries that the conventions for MCP name.
var All = []Instrument{
	clientOperationDuration, clientSessionDuration, serverOperationDuration, serverSessionDuration, clientActiveRequests,
	contradictionCount, malformedListCount, protocolFallbackCount, backendCount, sessionSetupDuration,
}

var (
	clientOperationDuration = Instrument{
		"mcp.client.operation.duration", "s",
		"The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.",
	}
	clientSessionDuration = Instrument{
		"mcp.client.session.duration", "s",
		"The duration of the MCP session as observed on the MCP client.",
	}
	serverOperationDuration = Instrument{
		"mcp.server.operation.duration", "s",
		"MCP request or notification duration as observed on the receiver from the time it was received until the result or ack is sent.",
	}
	serverSessionDuration = Instrument{
		"mcp.server.session.duration", "s",
		"The duration of the MCP session as observed on the MCP server.",
	}
	clientActiveRequests = Instrument{
		"candor.client.active_requests", "{request}",
		"Requests that were sent to the server and are not answered yet.",
	}
	contradictionCount = Instrument{
		"candor.contradictions", "{contradiction}",
		"Answers that contradict what the server advertised in its handshake.",
	}
	malformedListCount = Instrument{
		"candor.malformed_lists", "{list}",
		"Answers to a list method without a list in them.",
	}
	protocolFallbackCount = Instrument{
		"candor.protocol_fallbacks", "{fallback}",
		"Connections that had to fall back to an older protocol version.",
	}
	backendCount = Instrument{
		"candor.backends", "{backend}",
		"Backends of sessions that are in a state.",
	}
	sessionSetupDuration = Instrument{
		"candor.session.setup.duration", "s",
		"How long it took to connect to a backend and to ask it for its lists.",
	}
)

// Each of these never returns nil: with an error the API gives an instrument
// that works, and the error goes where OpenTelemetry's errors go.

func (i Instrument) histogram(meter metric.Meter) metric.Float64Histogram {
	return made(meter.Float64Histogram(i.Name, metric.WithUnit(i.Unit), metric.WithDescription(i.Description),
		metric.WithExplicitBucketBoundaries(durationBoundaries...)))
}

func (i Instrument) counter(meter metric.Meter) metric.Int64Counter {
	return made(meter.Int64Counter(i.Name, metric.WithUnit(i.Unit), metric.WithDescription(i.Description)))
}

func (i Instrument) upDownCounter(meter metric.Meter) metric.Int64UpDownCounter {
	return made(meter.Int64UpDownCounter(i.Name, metric.WithUnit(i.Unit), metric.WithDescription(i.Description)))
}

func (i Instrument) observed(meter metric.Meter) metric.Int64ObservableUpDownCounter {
	return made(meter.Int64ObservableUpDownCounter(i.Name, metric.WithUnit(i.Unit), metric.WithDescription(i.Description)))
}

func made[T any](instrument T, err error) T {
	if err != nil {
		otel.Handle(err)
	}
	return instrument
}
