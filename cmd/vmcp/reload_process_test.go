//go:build unix && !real

package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keeping is a server over HTTP that keeps its word, and its configuration.
func keeping(t *testing.T) (s *badserver.Server, entry map[string]any) {
	t.Helper()
	script, err := badserver.Load(strings.NewReader(keepsScript))
	require.NoError(t, err)
	s = badserver.New(script)
	return s, map[string]any{"url": newLoopback(t, s)}
}

// handshakes are how many connections a server was asked for.
func handshakes(s *badserver.Server) int {
	n := 0
	for _, request := range s.Requests() {
		if strings.Contains(string(request.Message), `"initialize"`) || strings.Contains(string(request.Message), `"server/discover"`) {
			n++
		}
	}
	return n
}

// A reload in a process: what is new appears, what is gone vanishes, what stays
// keeps its connection, the clients are told, and a broken file changes nothing.
func TestServeReloadsItsFileForItsClients(t *testing.T) {
	t.Parallel()
	seen, stays := keeping(t)
	_, leaves := keeping(t)
	_, joins := keeping(t)
	file := configFileOf(t, map[string]any{"stays": stays, "leaves": leaves})
	p, endpoint := launchEndpoint(t, file)
	c := openAt(t, connect.HTTP{URL: endpoint}, connect.WithListening())
	told := make(chan string, 64)
	c.OnNotification(func(n mcp.JSONRPCNotification) { told <- n.Method })
	tools := func() []string {
		list, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
		assert.NoError(t, err)
		return namesOfTools(list.Tools)
	}
	require.Equal(t, []string{"leaves_run", "stays_run", gateway.StatusTool}, tools())
	before := handshakes(seen)
	require.NotZero(t, before)

	rewrite(t, file, `"mcpServers"`, `"mcpServers": broken`)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), `"event":"config_invalid"`) }, 20*time.Second, 20*time.Millisecond)
	assert.Equal(t, []string{"leaves_run", "stays_run", gateway.StatusTool}, tools(), "nothing has changed")

	next, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"joins": joins, "stays": stays}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, next, 0o600))
	for method := range told {
		if method == mcp.MethodNotificationToolsListChanged {
			break
		}
	}
	require.Eventually(t, func() bool {
		return assert.ObjectsAreEqual([]string{"joins_run", "stays_run", gateway.StatusTool}, tools())
	}, 20*time.Second, 20*time.Millisecond)
	assert.Equal(t, before, handshakes(seen), "what stays keeps its connection")
	assert.Equal(t, vmcp.Ready, stateAt(t, endpoint, "joins").State)
	exit, out := exitOf(t, "status", "--url", endpoint)
	assert.Zero(t, exit, out)
	assert.NotContains(t, out, "leaves")
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	p.ended(t)
}
