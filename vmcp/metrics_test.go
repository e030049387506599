package vmcp_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const planted = "s3cr3t-Value"

// secretly plants a secret in all places of a URL that may have one.
func secretly(t *testing.T, raw string) *url.URL {
	t.Helper()
	address, err := url.Parse(raw)
	require.NoError(t, err)
	address.User, address.RawQuery = url.UserPassword(planted, planted), "key="+planted
	return address
}

func TestMeasurementsSayWhichBackendAndWhereItIs(t *testing.T) {
	t.Parallel()
	near, _ := links[0].serve(t, "near", answering("prompts/list", badserver.Fail(mcp.METHOD_NOT_FOUND, missing)))
	streamable := secretly(t, overHTTP(t, badserver.New(honest())).(connect.HTTP).URL)
	scripted := badserver.New(honest())
	stream := httptest.NewServer(scripted.SSE())
	t.Cleanup(func() { _ = scripted.Close(); stream.Close() })
	older := secretly(t, stream.URL)

	reader := metric.NewManualReader()
	builder := &vmcp.Builder{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))}
	session, err := builder.Build(t.Context(), []vmcp.Backend{
		near,
		{ID: "http", Connector: connect.To(connect.HTTP{URL: streamable.String()})},
		{ID: "sse", Connector: connect.To(connect.SSE{URL: older.String()})},
		{ID: "stdio", Connector: connect.To(connect.Stdio{Command: thisProgram(t), Env: map[string]string{dyingVariable: planted}})},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"stdio"}, session.Report().Failed())
	require.NoError(t, session.Close())

	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &collected))
	text, err := json.Marshal(collected)
	require.NoError(t, err)
	assert.NotContains(t, string(text), planted)

	want := map[string][]string{
		"near":  {"", "", ""},
		"http":  {"tcp", streamable.Hostname(), streamable.Port()},
		"sse":   {"tcp", older.Hostname(), older.Port()},
		"stdio": {"pipe", "", ""},
	}
	measured := map[string][]string{}
	forgiven := map[string]int64{}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				id := value(point.Attributes, "candor.backend.id")
				measured[id] = []string{value(point.Attributes, "network.transport"), value(point.Attributes, "server.address"), value(point.Attributes, "server.port")}
				assert.Equal(t, want[id], measured[id], "%s of %s", m.Name, id)
			}
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				forgiven[value(point.Attributes, "candor.backend.id")] += point.Value
			}
		}
	}
	assert.Equal(t, want, measured)
	assert.Equal(t, map[string]int64{"near": 1}, forgiven)
}

// value is an attribute as a text, empty where it is missing.
func value(set attribute.Set, key attribute.Key) string {
	found, ok := set.Value(key)
	if !ok {
		return ""
	}
	return found.String()
}
