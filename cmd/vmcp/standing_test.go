//go:build unix && !real

package main

import (
	"bytes"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scripts of servers as one meets them.
const (
	keepsScript  = `{"capabilities": {"tools": {}}, "answers": {"tools/list": [{"result": {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}}]}}`
	boastsScript = `{"capabilities": {"tools": {}, "prompts": {}}, "answers": {"tools/list": [{"result": {"tools": []}}]}}`
	hangsScript  = `{"capabilities": {"tools": {}}, "answers": {"tools/list": [{"hang": true}]}}`
)

// unserved is a server at an address where nobody listens.
var unserved = map[string]any{"url": "http://127.0.0.1:1/mcp"}

// vmcp status is a process too: its exit status is what scripts go by.
func TestStatusOfARunningServeHasAnExitStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		servers map[string]any
		exit    int
		says    string
	}{
		"all are ready":            {map[string]any{"a": childOf(t, keepsScript)}, 0, `(?m)^a +ready +1 `},
		"one contradicts itself":   {map[string]any{"a": childOf(t, keepsScript), "b": childOf(t, boastsScript)}, 10, `(?m)^b: degraded since `},
		"one has not answered yet": {map[string]any{"a": childOf(t, keepsScript), "b": childOf(t, hangsScript)}, 10, `(?m)^b: connecting since `},
		"one failed":               {map[string]any{"a": childOf(t, keepsScript), "b": unserved}, 11, `(?m)^b: failed since .*, tried \d+ times? in vain, next try `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, endpoint := launchEndpoint(t, configFileOf(t, tt.servers, map[string]any{"softDeadline": "3s"}))
			for _, url := range []string{endpoint, strings.TrimSuffix(endpoint, "/mcp")} {
				exit, out := exitOf(t, "status", "--url", url)
				assert.Equal(t, tt.exit, exit, out)
				assert.Regexp(t, tt.says, out)
			}
			require.NoError(t, p.Process.Signal(syscall.SIGINT))
			p.ended(t)
			exit, out := exitOf(t, "status", "--url", endpoint)
			assert.Equal(t, 1, exit, out)
			assert.Contains(t, out, "is vmcp serve running")
		})
	}
}

// exitOf runs vmcp as a process, and returns its exit status and all that it said.
func exitOf(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	var out bytes.Buffer
	p, _ := start(t, &out, args...)
	_ = p.Wait()
	p.assertLeavesNoChild(t)
	return p.ProcessState.ExitCode(), out.String() + p.log.String()
}

func TestServeStaysUpWhenAllBackendsFailed(t *testing.T) {
	t.Parallel()
	p, c, endpoint := launchHTTP(t, configFileOf(t, map[string]any{"dead": unserved, "gone": map[string]any{"command": "/no/such/program"}}))
	address := strings.TrimSuffix(endpoint, "/mcp")
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{gateway.StatusTool}, namesOfTools(list.Tools))
	text, err := call(t.Context(), c, gateway.StatusTool)
	require.NoError(t, err)
	assert.Contains(t, text, `"dead" has been failed since`)
	assert.Contains(t, text, "install the command, or give its full path")
	refused, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "dead_run"}})
	require.NoError(t, err)
	assert.True(t, refused.IsError)
	assert.Contains(t, refused.Content[0].(mcp.TextContent).Text, "connection refused")

	assert.Equal(t, http.StatusOK, get(t, address+"/healthz", nil).status, "restarting it would not help")
	ready := get(t, address+"/readyz", nil)
	assert.Equal(t, http.StatusServiceUnavailable, ready.status)
	assert.Contains(t, ready.text, "no backend serves")
	exit, out := exitOf(t, "status", "--url", address)
	assert.Equal(t, 11, exit, out)
	assert.Contains(t, out, ": failed, sessions: 1")
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	p.ended(t)
}

func TestServeEndsWhenARequiredBackendFailsAtItsStart(t *testing.T) {
	t.Parallel()
	needed := map[string]any{"command": "/no/such/program", "required": true}
	file := configFileOf(t, map[string]any{"needed": needed, "child": childOf(t, keepsScript)})
	for name, args := range map[string][]string{"over HTTP": {"--listen", "127.0.0.1:0"}, "over stdio": {"--stdio"}} {
		exit, said := exitOf(t, append([]string{"serve", "--config", file}, args...)...)
		assert.Equal(t, 1, exit, name)
		assert.Contains(t, said, "vmcp: no session: required and failed: needed", name)
		assert.Contains(t, said, "/no/such/program: no such file or directory", name)
		assert.Contains(t, said, "needed: install the command, or give its full path", name)
		assert.NotContains(t, said, "MCP endpoint", name)
	}
}

// writes counts them.
type writes struct {
	bytes.Buffer
	n int
}

func (w *writes) Write(p []byte) (int, error) {
	w.n++
	return w.Buffer.Write(p)
}

func TestWhatServeAnnouncesIsOnePiece(t *testing.T) {
	var out writes
	report := vmcp.Report{Backends: []vmcp.BackendReport{{ID: "a", State: vmcp.Ready}, {ID: "b", State: vmcp.Failed, Reason: "refused", Remedy: "start it"}}}
	require.NoError(t, (&service{tokens: "tokens"}).announce(&out, report, "http://127.0.0.1:1"))
	assert.Equal(t, 1, out.n, "on a terminal the log would come in between")
	assert.Equal(t, `BACKEND  STATE   TOOLS  RESOURCES  TEMPLATES  PROMPTS  REASON
a        ready   0      0          0          0        -
b        failed  0      0          0          0        refused

b: start it

MCP endpoint: http://127.0.0.1:1/mcp (streamable HTTP)
In a client's configuration: {"mcpServers": {"vmcp": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer TOKEN"}}}}
How things stand: http://127.0.0.1:1/ (a page), http://127.0.0.1:1/status (JSON), or vmcp status --url http://127.0.0.1:1 --auth-token-file tokens
Ctrl-C ends it.
`, out.String())
}
