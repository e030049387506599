package instrument_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestBackendsSayWhatHappensToThem(t *testing.T) {
	t.Parallel()
	m := mcptest.NewMeter(t)
	b := instrument.NewBackends(instrument.Config{MeterProvider: m, Attributes: []attribute.KeyValue{attribute.String("mine", "yes")}})
	ctx := t.Context()
	b.State(ctx, "a", "", "connecting")
	b.State(ctx, "a", "connecting", "ready")
	b.State(ctx, "a", "", "ready") // in another session
	b.State(ctx, "b", "", "failed")
	b.State(ctx, "b", "failed", "")
	b.SetUp(ctx, "a", 2*time.Second, nil)
	b.SetUp(ctx, "b", 30*time.Second, context.DeadlineExceeded)
	b.Fallback(ctx, "a", "2025-11-25")

	state := func(id, state string, value int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Attributes: mcptest.Attributes("mine", "yes", "candor.backend.id", id, "candor.backend.state", state), Value: value}
	}
	m.AssertMeasured(t,
		metricdata.Metrics{
			Name: "candor.backends", Description: "Backends of sessions that are in a state.", Unit: "{backend}",
			Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, DataPoints: []metricdata.DataPoint[int64]{
				state("a", "connecting", 0), state("a", "ready", 2), state("b", "failed", 0),
			}},
		},
		mcptest.Durations("candor.session.setup.duration", "How long it took to connect to a backend and to ask it for its lists.",
			mcptest.Point(mcptest.Attributes("mine", "yes", "candor.backend.id", "a"), 2),
			mcptest.Point(mcptest.Attributes("mine", "yes", "candor.backend.id", "b", "error.type", "timeout"), 30)),
		metricdata.Metrics{
			Name: "candor.protocol_fallbacks", Description: "Connections that had to fall back to an older protocol version.", Unit: "{fallback}",
			Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: []metricdata.DataPoint[int64]{
				{Attributes: mcptest.Attributes("mine", "yes", "candor.backend.id", "a", "mcp.protocol.version", "2025-11-25"), Value: 1},
			}},
		})
}
