//go:build real

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hasPrometheus says whether the programs of Debian's package prometheus are here;
// in CI they must be.
func hasPrometheus(t *testing.T) bool {
	t.Helper()
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			require.NotEqual(t, "true", os.Getenv("CI"), "%v: apt-get install prometheus", err)
			t.Logf("skipped: %v; apt-get install prometheus", err)
			return false
		}
	}
	return true
}

// docs is a file of the documentation.
func docs(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../docs", name))
	require.NoError(t, err)
	return path
}

func TestRealPromtoolAcceptsTheAlertRules(t *testing.T) {
	if !hasPrometheus(t) {
		return
	}
	for _, args := range [][]string{{"check", "rules", docs(t, "alerts.yml")}, {"test", "rules", docs(t, "alerts_test.yml")}} {
		out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
		assert.NoError(t, err, string(out))
	}
}

// servedMetrics runs vmcp serve on the servers inside the program and returns its
// address. load makes calls, of which one in ten fails.
func servedMetrics(t *testing.T) (address string, load func(calls int)) {
	t.Helper()
	endpoint, end := serving(t)
	t.Cleanup(func() { assert.Equal(t, statusOK, end()) })
	caller, err := connect.Open(t.Context(), connect.HTTP{URL: endpoint})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, caller.Close()) })
	target, err := url.Parse(endpoint)
	require.NoError(t, err)
	return target.Host, func(calls int) {
		for n := range calls {
			arguments := map[string]any{"message": "hello"}
			if n%10 == 0 {
				arguments = nil // which the tool refuses
			}
			_, err := caller.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "honest_echo", Arguments: arguments}})
			assert.NoError(t, err)
		}
	}
}

// prometheus is a Prometheus that scrapes an address each second.
type prometheus struct{ api string }

func newPrometheus(t *testing.T, address string) prometheus {
	t.Helper()
	file := write(t, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: vmcp
    static_configs: [{targets: [%q]}]
`, docs(t, "alerts.yml"), address))
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, listen, "prometheus", "--config.file="+file, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+listen)
	return prometheus{"http://" + listen + "/api/v1/"}
}

// series is what Prometheus answers with.
type series struct {
	Metric map[string]string
	Value  [2]any
}

func (p prometheus) query(t *testing.T, expression string) []series {
	t.Helper()
	var answer struct{ Data struct{ Result []series } }
	p.get(t, "query?query="+url.QueryEscape(expression), &answer)
	return answer.Data.Result
}

func (p prometheus) get(t *testing.T, path string, into any) {
	t.Helper()
	answer, err := http.Get(p.api + path)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s: %s", path, body)
	require.NoError(t, json.Unmarshal(body, into))
}

// sum is the value of an expression with one series, or 0.
func (p prometheus) sum(t *testing.T, expression string) float64 {
	t.Helper()
	found := p.query(t, expression)
	if len(found) == 0 {
		return 0
	}
	value, err := strconv.ParseFloat(found[0].Value[1].(string), 64)
	require.NoError(t, err)
	return value
}

func TestRealPrometheusHasTheSeriesUnderTheirNames(t *testing.T) {
	if !hasPrometheus(t) {
		return
	}
	const workers, calls = 4, 100
	rounds := 0
	address, load := servedMetrics(t)
	p := newPrometheus(t, address)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	require.Eventually(t, func() bool { // it is scraped under load, several times
		rounds++
		var all sync.WaitGroup
		for range workers {
			all.Go(func() { load(calls) })
		}
		all.Wait()
		return p.sum(t, `sum(count_over_time(up{job="vmcp"}[5m]))`) >= 4
	}, time.Minute, 50*time.Millisecond)
	total := float64(rounds * workers * calls)

	const echo = `mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="echo",candor_backend_id="honest"`
	want := map[string]float64{
		`sum(` + echo + `})`:                         total,
		`sum(` + echo + `,error_type="tool_error"})`: total / 10,
		`sum(mcp_client_operation_duration_seconds_bucket{mcp_method_name="tools/call",le="+Inf"})`:                                        total,
		`count(candor_contradictions_total{candor_backend_id="boastful",mcp_method_name=~"(resources|resources/templates|prompts)/list"})`: 3,
		`count(mcp_client_operation_duration_seconds_count{candor_backend_id="boastful",rpc_response_status_code="-32601"})`:               3,
		`count(ALERTS{alertname="CandorContradiction",candor_backend_id="boastful",alertstate="firing"})`:                                  3,
		`count(ALERTS{alertname="CandorBackendDown"}) or vector(0)`:                                                                        0,
		`count(target_info{service_name="vmcp"})`:                                                                                          1,
		`up{job="vmcp"}`: 1,
	}
	for expression, value := range want {
		assert.Eventually(t, func() bool { return p.sum(t, expression) == value }, 30*time.Second, 100*time.Millisecond,
			"%s is %v, not %v", expression, p.sum(t, expression), value)
	}
	assert.Positive(t, p.sum(t, `sum(mcp_client_operation_duration_seconds_sum{mcp_method_name="tools/call"})`))
	p.assertRules(t)
	p.assertDashboard(t)
}

// assertRules sees that every alert rule could be evaluated.
func (p prometheus) assertRules(t *testing.T) {
	t.Helper()
	type rule struct{ Name, Health, LastError string }
	var answer struct {
		Data struct{ Groups []struct{ Rules []rule } }
	}
	healthy := func() bool {
		p.get(t, "rules", &answer)
		for _, rule := range answer.Data.Groups[0].Rules {
			if rule.Health != "ok" {
				return false
			}
		}
		return len(answer.Data.Groups[0].Rules) == 9
	}
	assert.Eventually(t, healthy, 30*time.Second, 100*time.Millisecond, "%+v", answer)
}

// assertDashboard asks each question of the dashboard.
func (p prometheus) assertDashboard(t *testing.T) {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	data, err := os.ReadFile(docs(t, "grafana-dashboard.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &board))
	variables := regexp.MustCompile(`\$(job|backend)`)
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			expression := variables.ReplaceAllString(strings.ReplaceAll(target.Expr, "$__rate_interval", "1m"), ".*")
			found := p.query(t, expression)
			if strings.Contains(expression, "mcp_client_operation") {
				assert.NotEmpty(t, found, panel.Title)
			}
		}
	}
}
