package vmcp_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
			if !strings.HasPrefix(m.Name, "mcp.") {
				continue
			}
			for _, point := range data.DataPoints {
				id := value(point.Attributes, "candor.backend.id")
				measured[id] = []string{value(point.Attributes, "network.transport"), value(point.Attributes, "server.address"), value(point.Attributes, "server.port")}
				assert.Equal(t, want[id], measured[id], "%s of %s", m.Name, id)
			}
		case metricdata.Sum[int64]:
			if m.Name != "candor.contradictions" {
				continue
			}
			for _, point := range data.DataPoints {
				if !data.IsMonotonic { // requests in flight
					continue
				}
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

// measured returns the counts of a sum by one attribute and the backend.
func measured(t *testing.T, reader metric.Reader, name string, by attribute.Key) map[string]int64 {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &collected))
	found := map[string]int64{}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					if point.Value != 0 {
						found[value(point.Attributes, "candor.backend.id")+" "+value(point.Attributes, by)] += point.Value
					}
				}
			case metricdata.Histogram[float64]:
				for _, point := range data.DataPoints {
					found[value(point.Attributes, "candor.backend.id")+" "+value(point.Attributes, by)] += int64(point.Count) //nolint:gosec // it is small
				}
			}
		}
	}
	return found
}

func TestTheInstrumentsTellTheLifeOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		builder := &vmcp.Builder{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), SoftDeadline: time.Second}
		states := func() map[string]int64 { return measured(t, reader, "candor.backends", "candor.backend.state") }
		good, _ := hook(t, "good", serving("good"), nil)
		flaps, _ := hook(t, "flaps", dies(), nil)
		late, _ := hook(t, "late", slow(5*time.Second), nil)
		session := build(t, builder, good, flaps, late)
		assert.Equal(t, map[string]int64{"good ready": 1, "flaps ready": 1, "late connecting": 1}, states())
		_, err := session.CallTool(t.Context(), callOf("flaps_alpha"))
		require.Error(t, err)
		synctest.Wait()
		assert.Equal(t, map[string]int64{"good ready": 1, "flaps failed": 1, "late connecting": 1}, states())
		pass(10 * time.Second)
		assert.Equal(t, map[string]int64{"good ready": 1, "flaps ready": 1, "late ready": 1}, states())
		bad, _ := hook(t, "bad", with(`{"tools":{}}`, answers{"tools/list": {databaseDown}}), nil)
		good.CallTimeout = time.Minute
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{good, bad}))
		synctest.Wait()
		assert.Equal(t, map[string]int64{"good ready": 1, "bad failed": 1}, states(), "who left is not counted")
		assert.Equal(t, map[string]int64{"good ": 2, "flaps ": 2, "late ": 1, "bad -32603": 1}, measured(t, reader, "candor.session.setup.duration", "error.type"))
		require.NoError(t, session.Close())
		assert.Empty(t, states(), "every backend that joined has left")
		refusing, _ := hook(t, "refusing", with(`{"tools":{}}`, answers{"tools/list": {databaseDown}}), nil)
		buildError(t, builder, refusing)
		assert.Empty(t, states(), "so has that of a session that did not come about")
	})
}

func TestAFallbackIsCounted(t *testing.T) {
	t.Parallel()
	script := onlyTools("run")
	script.Protocol = legacy
	script.Answers["server/discover"] = []badserver.Answer{{Exit: true}}
	reader := metric.NewManualReader()
	build(t, &vmcp.Builder{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))}, scripted(t, "old", script))
	assert.Equal(t, map[string]int64{"old " + legacy: 1}, measured(t, reader, "candor.protocol_fallbacks", "mcp.protocol.version"))
}
