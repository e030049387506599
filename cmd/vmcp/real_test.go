//go:build real

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entry is a server as it stands in a configuration file.
type entry map[string]any

func node(path string, args ...string) entry {
	return entry{"command": "node", "args": append([]string{script(path)}, args...)}
}

func hubspot() entry {
	server := node("@hubspot/mcp-server/dist/index.js")
	server["env"] = map[string]string{"PRIVATE_APP_ACCESS_TOKEN": "x"}
	return server
}

func everything() entry {
	return node("@modelcontextprotocol/server-everything/dist/index.js", "stdio")
}

func postgres() entry {
	return node("@modelcontextprotocol/server-postgres/dist/index.js", "postgresql://127.0.0.1:1/x")
}

func configFile(t *testing.T, servers map[string]entry) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file
}

// listed is what vmcp tools --json prints.
type listed struct {
	vmcp.Report
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func (l listed) count(prefix string) int {
	n := 0
	for _, tool := range l.Tools {
		if strings.HasPrefix(tool.Name, prefix) {
			n++
		}
	}
	return n
}

// tools runs vmcp tools --json and returns what it printed and logged.
func tools(t *testing.T, servers map[string]entry) (listed, []map[string]any) {
	t.Helper()
	var out, log bytes.Buffer
	status := run(t.Context(), []string{"tools", "--json", "--config", configFile(t, servers)}, streams{strings.NewReader(""), &out, &log})
	require.Equal(t, statusOK, status, log.String())
	var l listed
	require.NoError(t, json.Unmarshal(out.Bytes(), &l), out.String())
	return l, records(t, log.String())
}

// records are the lines of the log at WARN and above.
func records(t *testing.T, log string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(log) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		if record["level"] == "WARN" || record["level"] == "ERROR" {
			found = append(found, record)
		}
	}
	return found
}

// checked runs vmcp check and returns the exit status and what it printed.
func checked(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), append([]string{"check"}, args...), streams{strings.NewReader(""), &out, io.Discard})
	return status, out.String()
}

func backend(t *testing.T, l listed, id string) vmcp.BackendReport {
	t.Helper()
	found, ok := l.Backend(id)
	require.True(t, ok, id)
	return found
}

func TestRealHubspotContradictsAndKeepsItsTools(t *testing.T) {
	l, warnings := tools(t, map[string]entry{"hubspot": hubspot(), "everything": everything()})

	assert.Equal(t, 21, l.count("hubspot_"))
	assert.Equal(t, 13, l.count("everything_"))
	assert.Equal(t, vmcp.Ready, backend(t, l, "everything").State)
	degraded := backend(t, l, "hubspot")
	assert.Equal(t, vmcp.Degraded, degraded.State)
	require.Len(t, degraded.Contradictions, 2)
	assert.EqualValues(t, "resources/list", degraded.Contradictions[0].Method)
	assert.EqualValues(t, "resources/templates/list", degraded.Contradictions[1].Method)

	require.Len(t, warnings, 2)
	methods := map[any]bool{}
	for _, warning := range warnings {
		methods[warning["method"]] = true
		assert.Equal(t, "WARN", warning["level"])
		assert.Equal(t, "capability_contradiction", warning["event"])
		assert.Equal(t, "hubspot", warning["backendID"])
		assert.Equal(t, "resources", warning["capability"])
		assert.Equal(t, "hubspot-mcp-server", warning["serverName"])
		assert.Equal(t, "0.4.0", warning["serverVersion"])
	}
	assert.Equal(t, map[any]bool{"resources/list": true, "resources/templates/list": true}, methods)
}

func TestRealHonestEverythingIsReadyOverStdioAndHTTP(t *testing.T) {
	port := freePort(t)
	t.Setenv("PORT", strconv.Itoa(port))
	background(t, fmt.Sprintf("127.0.0.1:%d", port), "node", script("@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	l, warnings := tools(t, map[string]entry{"stdio": everything(), "http": {"url": fmt.Sprintf("http://127.0.0.1:%d/mcp", port)}})
	for _, id := range []string{"stdio", "http"} {
		report := backend(t, l, id)
		assert.Equal(t, 13, report.Tools, id)
		assert.Equal(t, []int{7, 2, 4}, []int{report.Resources, report.ResourceTemplates, report.Prompts}, id)
	}
	assert.Empty(t, warnings)
	assert.Equal(t, vmcp.Degraded, backend(t, l, "stdio").State, "the same resources stand twice in this session")
	assert.Len(t, backend(t, l, "stdio").LeftOut, 9)
}

func TestRealHonestFilesystemIsReady(t *testing.T) {
	l, warnings := tools(t, map[string]entry{"files": node("@modelcontextprotocol/server-filesystem/dist/index.js", t.TempDir())})
	assert.Equal(t, vmcp.Ready, backend(t, l, "files").State)
	assert.Equal(t, 14, l.count("files_"))
	assert.Empty(t, warnings)
}

func TestRealDrawioContradictsAlikeOverStdioAndHTTP(t *testing.T) {
	const main = "drawio-mcp-server/build/index.js"
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, address, "node", script(main), "--transport", "http", "--host", "127.0.0.1",
		"--http-port", strings.Split(address, ":")[1], "--extension-port", strconv.Itoa(freePort(t)))
	l, warnings := tools(t, map[string]entry{
		"stdio": node(main, "--extension-port", strconv.Itoa(freePort(t))),
		"http":  {"url": "http://" + address + "/mcp"},
	})
	for _, id := range []string{"stdio", "http"} {
		report := backend(t, l, id)
		assert.Equal(t, vmcp.Degraded, report.State, id)
		assert.Equal(t, 30, l.count(id+"_"))
		require.Len(t, report.Contradictions, 2)
	}
	assert.Equal(t, backend(t, l, "stdio").Contradictions, backend(t, l, "http").Contradictions)
	assert.Len(t, warnings, 4)
}

func TestRealServersThatBreakTheHandshakeComeUp(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: x, user: {}}], contexts: [{name: x, context: {cluster: x, user: x}}]}`), 0o600))
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, address, script("kubernetes-mcp-server-linux-amd64/bin/kubernetes-mcp-server-linux-amd64"),
		"--port", strings.Split(address, ":")[1], "--bind-address", "127.0.0.1", "--kubeconfig", kubeconfig)

	l, warnings := tools(t, map[string]entry{
		"kubernetes": {"url": "http://" + address + "/mcp"},
		"cortex":     {"command": script("@temporal-cortex/cortex-mcp-linux-x64/bin/cortex-mcp")},
		"effect":     node("effect-mcp/main.cjs"),
		"postgres":   postgres(),
	})
	fallbacks := map[any]int{}
	for _, warning := range warnings {
		if warning["event"] == "protocol_fallback" {
			fallbacks[warning["backendID"]]++
		}
	}
	assert.Equal(t, map[any]int{"kubernetes": 1, "cortex": 1, "effect": 1}, fallbacks)
	for id, count := range map[string]int{"kubernetes": 20, "cortex": 18, "effect": 2} {
		assert.Equal(t, vmcp.Ready, backend(t, l, id).State, id)
		assert.Equal(t, count, l.count(id+"_"), id)
	}
	failed := backend(t, l, "postgres")
	assert.Equal(t, vmcp.Failed, failed.State)
	assert.Contains(t, failed.Reason, "resources/list")
	assert.Contains(t, failed.Reason, "ECONNREFUSED 127.0.0.1:1", "the server's own words")
	assert.Equal(t, []string{"postgres"}, l.Failed())
}

func TestRealCheckTellsWhatServersKeep(t *testing.T) {
	tests := map[string]struct {
		args     []string
		status   int
		contains string
	}{
		"everything is kept": {[]string{"--", "node", script("@modelcontextprotocol/server-everything/dist/index.js"), "stdio"},
			statusOK, "completion/complete"},
		"hubspot contradicts": {[]string{"--config", configFile(t, map[string]entry{"hubspot": hubspot()})},
			statusContradicted, "it advertises `resources`, and answers `resources/list` with: -32601"},
		"desktop-commander contradicts prompts/get": {[]string{"--", "node", script("@wonderwhy-er/desktop-commander/dist/index.js")},
			statusContradicted, "it advertises `prompts`, and answers `prompts/get` with: JSON-RPC error -32601"},
		"postgres fails": {[]string{"--config", configFile(t, map[string]entry{"postgres": postgres()})},
			statusFailed, "ECONNREFUSED"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status, out := checked(t, tt.args...)
			assert.Equal(t, tt.status, status, out)
			assert.Contains(t, out, tt.contains)
		})
	}
}

// endpointOf runs vmcp serve until the test ends and returns the endpoint it prints.
func endpointOf(t *testing.T, servers map[string]entry) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--config", configFile(t, servers)}, streams{strings.NewReader(""), writer, io.Discard})
		_ = writer.Close()
	}()
	t.Cleanup(func() {
		stop()
		select {
		case status := <-ended:
			assert.Equal(t, statusOK, status, "the exit status after Ctrl-C")
		case <-time.After(time.Minute):
			t.Error("vmcp serve does not end")
		}
	})
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if found := regexp.MustCompile(`http://\S+/mcp`).FindString(lines.Text()); found != "" {
			go func() { _, _ = io.Copy(io.Discard, reader) }()
			return found
		}
	}
	t.Fatal("vmcp serve printed no endpoint")
	return ""
}

func inspector(t *testing.T, endpoint string, args ...string) string {
	t.Helper()
	cli := exec.CommandContext(t.Context(), "node", append([]string{script("@modelcontextprotocol/inspector/cli/build/cli.js"), "--cli", endpoint, "--transport", "http"}, args...)...)
	out, err := cli.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestRealClientsUseTheEndpoint(t *testing.T) {
	endpoint := endpointOf(t, map[string]entry{"hubspot": hubspot(), "everything": everything()})

	t.Run("the Inspector lists tools under both prefixes", func(t *testing.T) {
		out := inspector(t, endpoint, "--method", "tools/list")
		assert.Equal(t, 21, strings.Count(out, `"name": "hubspot_`))
		assert.Equal(t, 13, strings.Count(out, `"name": "everything_`))
	})
	t.Run("the Inspector calls a tool", func(t *testing.T) {
		out := inspector(t, endpoint, "--method", "tools/call", "--tool-name", "everything_echo", "--tool-arg", "message=hello")
		assert.Contains(t, out, "Echo: hello")
	})
	t.Run("the Inspector lists the resources of server-everything", func(t *testing.T) {
		out := inspector(t, endpoint, "--method", "resources/list")
		assert.Equal(t, 7, strings.Count(out, `"uri": "demo://`), out)
	})
	t.Run("mcp-remote brings a stdio client to it", func(t *testing.T) {
		l, _ := tools(t, map[string]entry{"remote": node("mcp-remote/dist/proxy.js", endpoint, "--allow-http", "--transport", "http-only")})
		assert.Equal(t, 21+13+1, l.count("remote_"), "vmcp_status among them")
	})
}
