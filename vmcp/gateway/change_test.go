package gateway_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAChangeOfABackendReachesTheCaller(t *testing.T) {
	t.Parallel()
	w := ways[2] // over stdio there is always a stream for notifications
	script := serving("one")
	script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("run").Once(), badserver.Tools("run", "new")}
	g, servers := before(t, map[string]badserver.Script{"one": script})
	c, hello := w.connected(t, g)
	require.True(t, hello.Capabilities.Tools.ListChanged)
	require.True(t, hello.Capabilities.Prompts.ListChanged)
	require.True(t, hello.Capabilities.Resources.ListChanged)
	told := make(chan string, 8)
	c.OnNotification(func(n mcp.JSONRPCNotification) { told <- n.Method })

	servers["one"].Notify(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	for method := range told {
		if method == mcp.MethodNotificationToolsListChanged {
			break
		}
	}
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Len(t, tools.Tools, 2)
}

func TestWhatNobodyServesAnyMoreIsNoLongerListed(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		script := serving("one")
		script.Answers["resources/list"] = []badserver.Answer{badserver.Resources("res://old").Once(), badserver.Resources()}
		g, servers := before(t, map[string]badserver.Script{"one": script})
		c, _ := w.connected(t, g)
		servers["one"].Notify(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`))
		require.Eventually(t, func() bool {
			resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
			return err == nil && len(resources.Resources) == 0
		}, 10*time.Second, 10*time.Millisecond)
	})
}

func TestAToolWithBrokenHeaderAnnotationsIsLeftOutAndReported(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		script := serving("one")
		script.Answers["tools/list"] = []badserver.Answer{{Result: json.RawMessage(`{"tools":[
			{"name":"good","inputSchema":{"type":"object"}},
			{"name":"evil","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"not a token"}}}}]}`)}}
		board := status.NewBoard("1")
		g, _ := before(t, map[string]badserver.Script{"one": script}, func(o *gateway.Options) { o.Observer = board })
		c, _ := w.connected(t, g)
		tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		require.NoError(t, err)
		require.Len(t, tools.Tools, 1)
		assert.Equal(t, "one_good", tools.Tools[0].Name)
		known, _ := board.Current()
		report := known.Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		require.Len(t, report.LeftOut, 1)
		assert.Equal(t, "evil", report.LeftOut[0].Name)
		assert.Contains(t, report.LeftOut[0].Reason, "x-mcp-header")
	})
}
