package telemetry_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/mcp-candor/candor/cmd/vmcp/internal/telemetry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
)

// instruments are what vmcp measures with, by kind: docs/events.md lists them.
var instruments = map[string][][2]string{
	"histogram": {
		{"mcp.client.operation.duration", "s"}, {"mcp.client.session.duration", "s"},
		{"mcp.server.operation.duration", "s"}, {"mcp.server.session.duration", "s"}, {"candor.session.setup.duration", "s"},
	},
	"counter": {
		{"candor.contradictions", "{contradiction}"}, {"candor.malformed_lists", "{list}"}, {"candor.protocol_fallbacks", "{fallback}"},
	},
	"gauge": {{"candor.backends", "{backend}"}, {"candor.client.active_requests", "{request}"}},
}

// names returns what Prometheus calls each series of theirs.
func names(t *testing.T) map[string]bool {
	t.Helper()
	with(t, nil)
	on := start(t, telemetry.Info{})
	meter := on.MeterProvider().Meter("test")
	for _, of := range instruments["histogram"] {
		histogram, err := meter.Float64Histogram(of[0], metric.WithUnit(of[1]))
		require.NoError(t, err)
		histogram.Record(t.Context(), 1)
	}
	for _, of := range instruments["counter"] {
		counter, err := meter.Int64Counter(of[0], metric.WithUnit(of[1]))
		require.NoError(t, err)
		counter.Add(t.Context(), 1)
	}
	for _, of := range instruments["gauge"] {
		counter, err := meter.Int64UpDownCounter(of[0], metric.WithUnit(of[1]))
		require.NoError(t, err)
		counter.Add(t.Context(), 1)
	}
	_, body := scrape(t, on)
	found := map[string]bool{"up": true}
	for line := range strings.Lines(body) {
		name := regexp.MustCompile(`^\w*`).FindString(line)
		found[name], found[strings.TrimSuffix(name, "_count")] = true, true
	}
	return found
}

// metricName is what every metric that documents speak of looks like.
var metricName = regexp.MustCompile(`\b(?:mcp_(?:client|server)|candor|go|process)_\w+`)

// labels are the names that look so and are none of metrics.
var labels = map[string]bool{"candor_backend_id": true, "candor_backend_state": true, "candor_capability": true}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../../../docs/" + name)
	require.NoError(t, err)
	return string(data)
}

func TestDocumentsNameMetricsThatExist(t *testing.T) {
	exist := names(t)
	for _, document := range []string{"alerts.yml", "grafana-dashboard.json", "observability.md"} {
		found := metricName.FindAllString(read(t, document), -1)
		require.NotEmpty(t, found, document)
		for _, name := range found {
			assert.True(t, exist[name] || labels[name], "%s in docs/%s", name, document)
		}
	}
}

func TestDashboardKeepsToGrafanasSchema(t *testing.T) {
	runtime := cog.NewRuntime() // it knows these kinds of panels and of queries; another is not checked
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	file := []byte(read(t, "grafana-dashboard.json"))
	// The classic model: what Grafana's Import takes and its Export writes as a file.
	violations, ok := errors.AsType[cog.BuildErrors](new(dashboard.Dashboard).UnmarshalJSONStrict(file)) //nolint:staticcheck // see above
	require.True(t, ok, "it returns a list, which is empty if all is well")
	require.Empty(t, violations)
	var board dashboard.Dashboard //nolint:staticcheck // see above
	require.NoError(t, json.Unmarshal(file, &board))
	require.NoError(t, board.Validate())
	seen := map[uint32]bool{}
	for _, panel := range board.Panels {
		if panel.Panel == nil {
			continue // a row
		}
		assert.False(t, seen[*panel.Panel.Id], "the id %d twice", *panel.Panel.Id)
		seen[*panel.Panel.Id] = true
		assert.Contains(t, []string{"timeseries", "stat", "table"}, panel.Panel.Type)
		assert.NotEmpty(t, *panel.Panel.Title)
		assert.NotEmpty(t, *panel.Panel.Description, *panel.Panel.Title)
		assert.NotEmpty(t, panel.Panel.Targets, *panel.Panel.Title)
	}
	assert.Len(t, seen, 18)
}
