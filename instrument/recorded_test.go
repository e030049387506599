package instrument_test

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
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// meter is an OpenTelemetry SDK whose measurements can be read.
type meter struct {
	*metric.MeterProvider
	reader *metric.ManualReader
}

func newMeter(t testing.TB) meter {
	t.Helper()
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	return meter{provider, reader}
}

// measured is all that was measured, by the name of the instrument.
func (m meter) measured(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, m.reader.Collect(t.Context(), &all))
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		assert.Equal(t, "github.com/mcp-candor/candor/middleware", scope.Scope.Name)
		for _, each := range scope.Metrics {
			assert.NotContains(t, byName, each.Name)
			byName[each.Name] = each
		}
	}
	return byName
}

// attrs makes a set of pairs of strings.
func attrs(pairs ...string) attribute.Set {
	var all []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, attribute.String(pairs[i], pairs[i+1]))
	}
	return attribute.NewSet(all...)
}

// point is what a histogram holds for one set of attributes.
func point(set attribute.Set, seconds ...float64) metricdata.HistogramDataPoint[float64] {
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

func durations(name, description string, points ...metricdata.HistogramDataPoint[float64]) metricdata.Metrics {
	return metricdata.Metrics{
		Name: name, Description: description, Unit: "s",
		Data: metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality, DataPoints: points},
	}
}

func (m meter) assertMeasured(t *testing.T, want ...metricdata.Metrics) {
	t.Helper()
	got := m.measured(t)
	delete(got, "candor.client.active_requests") // it has a test of its own
	for _, each := range want {
		metricdatatest.AssertEqual(t, each, got[each.Name], metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		delete(got, each.Name)
	}
	assert.Empty(t, got, "instruments that nobody asked for")
}

func histogramOf(t *testing.T, m meter, name string) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	return m.measured(t)[name].Data.(metricdata.Histogram[float64]).DataPoints
}

// spans is an OpenTelemetry SDK whose spans can be read.
type spans struct {
	*trace.TracerProvider
	recorder *tracetest.SpanRecorder
}

func newSpans(t testing.TB, options ...trace.TracerProviderOption) spans {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(append(options, trace.WithSpanProcessor(recorder))...)
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	return spans{provider, recorder}
}
