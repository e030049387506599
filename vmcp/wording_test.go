package vmcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
)

// refusing is a server over HTTP that has tools, resources and prompts, and refuses
// one method in a way of its own.
func refusing(t *testing.T, method string, status int, failed string) vmcp.Backend {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := `"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"resources":[],"resourceTemplates":[],"prompts":[]}`
		if m.Method == "initialize" {
			answer = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}`
		}
		w.Header().Set("Content-Type", "application/json")
		if m.Method == method {
			w.WriteHeader(status)
			answer = failed
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(server.Close)
	return vmcp.Backend{ID: "one", Connector: connect.To(connect.HTTP{URL: server.URL}, connect.WithProtocolVersion(legacy))}
}

// A reason has the code, or the status, and never ends after a colon.
func TestAReasonIsNeverWithoutWords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		failed string
		says   []string
	}{
		"an error without a message":                  {500, `"error":{"code":-32000,"message":""}`, []string{"-32000", "without a message", "500"}},
		"one under a good status":                     {200, `"error":{"code":-32000,"message":""}`, []string{"-32000", "without a message"}},
		"one whose words are those of the known case": {200, `"error":{"code":-32000,"message":"method not found: resources/list"}`, []string{"-32000", "method not found: resources/list"}},
		"one of a code that mcp-go knows":             {200, `"error":{"code":-32603,"message":"the database is away"}`, []string{"-32603", "the database is away"}},
		"a status and nothing else":                   {500, `"x":1`, []string{"500"}},
	} {
		for _, method := range lists {
			t.Run(name+", "+method, func(t *testing.T) {
				t.Parallel()
				session := build(t, &vmcp.Builder{AllowEmpty: true}, refusing(t, method, test.status, test.failed))
				report := session.Report().Backends[0]
				assert.NotEqual(t, vmcp.Ready, report.State)
				for _, part := range append(test.says, method) {
					assert.Contains(t, report.Reason, part)
				}
				assert.NotRegexp(t, `:\s*$`, report.Reason)
				assert.NotEmpty(t, report.Remedy)
			})
		}
	}
}
