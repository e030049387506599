package mcptest

import (
	"context"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
)

// Meter is an OpenTelemetry SDK whose measurements can be read.
type Meter struct {
	*metric.MeterProvider
	reader *metric.ManualReader
}

// NewMeter returns one that the test's cleanup shuts down.
func NewMeter(tb testing.TB) Meter {
	tb.Helper()
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	tb.Cleanup(func() { assert.NoError(tb, provider.Shutdown(context.Background())) })
	return Meter{provider, reader}
}

// Measured is all that was measured, by the name of the instrument.
func (m Meter) Measured(tb testing.TB) map[string]metricdata.Metrics {
	tb.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(tb, m.reader.Collect(tb.Context(), &all))
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		assert.Equal(tb, "github.com/mcp-candor/candor/middleware", scope.Scope.Name)
		for _, each := range scope.Metrics {
			assert.NotContains(tb, byName, each.Name)
			byName[each.Name] = each
		}
	}
	return byName
}

// AssertMeasured compares all that was measured with what was expected.
func (m Meter) AssertMeasured(t *testing.T, want ...metricdata.Metrics) {
	t.Helper()
	got := m.Measured(t)
	delete(got, "candor.client.active_requests") // it has a test of its own
	for _, each := range want {
		metricdatatest.AssertEqual(t, each, got[each.Name], metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		delete(got, each.Name)
	}
	assert.Empty(t, got, "instruments that nobody asked for")
}

// HistogramOf is what the histogram of that name holds.
func (m Meter) HistogramOf(t *testing.T, name string) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	histogram, ok := m.Measured(t)[name].Data.(metricdata.Histogram[float64])
	require.True(t, ok, "no histogram %s", name)
	return histogram.DataPoints
}

// Attributes makes a set of pairs of strings.
func Attributes(pairs ...string) attribute.Set {
	var all []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, attribute.String(pairs[i], pairs[i+1]))
	}
	return attribute.NewSet(all...)
}

// Point is what a histogram of seconds holds for one set of attributes.
func Point(set attribute.Set, seconds ...float64) metricdata.HistogramDataPoint[float64] {
	p := metricdata.HistogramDataPoint[float64]{
		Attributes: set,
		Bounds:     []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300},
	}
	p.BucketCounts = make([]uint64, len(p.Bounds)+1)
	least, most := seconds[0], seconds[0]
	for _, s := range seconds {
		p.Count++
		p.Sum += s
		p.BucketCounts[sort.SearchFloat64s(p.Bounds, s)]++
		least, most = min(least, s), max(most, s)
	}
	p.Min, p.Max = metricdata.NewExtrema(least), metricdata.NewExtrema(most)
	return p
}

// Durations is a histogram of seconds.
func Durations(name, description string, points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return metricdata.Metrics{
		Name: name, Description: description, Unit: "s",
		Data: metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality, DataPoints: points},
	}
}
