package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// late is a server whose handshake takes that long.
func late(name string, delay time.Duration) badserver.Script {
	script := serving(name)
	script.Answers["initialize"] = []badserver.Answer{{Delay: badserver.Duration(delay)}}
	return script
}

// patient builds sessions that wait 5 s.
var patient = vmcp.Builder{SoftDeadline: 5 * time.Second, AllowEmpty: true}

// backendsOf are scripted servers in this process.
func backendsOf(scripts map[string]badserver.Script, ids ...string) (backends []vmcp.Backend, servers map[string]*badserver.Server) {
	servers = map[string]*badserver.Server{}
	for _, id := range ids {
		servers[id] = badserver.New(scripts[id])
		backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(servers[id])})
	}
	return backends, servers
}

// listed is a list of any kind.
type listed struct {
	Tools     []struct{ Name string }
	Prompts   []struct{ Name string }
	Resources []struct{ URI string }
	Templates []struct{ URITemplate string } `json:"resourceTemplates"`
	Next      string                         `json:"nextCursor"`
	Meta      struct {
		Missing []gateway.Missing `json:"com.github.mcp-candor/missing"`
	} `json:"_meta"`
}

func list(t *testing.T, answer said) (l listed) {
	t.Helper()
	answer.into(t, &l)
	return l
}

func (l listed) tools() (names []string) {
	for _, tool := range l.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestASlowBackendJoinsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backends, _ := backendsOf(map[string]badserver.Script{"quick": serving("quick"), "slow": late("slow", 12*time.Second)}, "quick", "slow")
		g := over(t, &patient, backends)
		began := time.Now()
		p := plug(t, g, plain)
		assert.Equal(t, 5*time.Second, time.Since(began))
		var hello mcp.InitializeResult
		p.hello.into(t, &hello)
		assert.Contains(t, hello.Instructions, `Backend "slow" has been connecting since 2000-01-01T00:00:00Z: it has not answered yet.`)
		tools := list(t, p.ask("tools/list", nil))
		assert.Equal(t, []string{"quick_run", "quick_stop"}, tools.tools())
		require.Len(t, tools.Meta.Missing, 1)
		missing := tools.Meta.Missing[0]
		assert.Equal(t, "slow", missing.Backend)
		assert.Equal(t, vmcp.Connecting, missing.State)
		assert.Equal(t, began, missing.Since.Local())
		assert.Equal(t, "it has not answered yet", missing.Reason)
		assert.NotEmpty(t, missing.Remedy)

		p.until(mcp.MethodNotificationToolsListChanged)
		assert.Equal(t, 12*time.Second, time.Since(began))
		tools = list(t, p.ask("tools/list", nil))
		assert.Equal(t, []string{"quick_run", "quick_stop", "slow_run", "slow_stop"}, tools.tools())
		assert.Empty(t, tools.Meta.Missing)
		assert.Equal(t, "slow", p.call("slow_run").text(t))
	})
}

// A client does not look for what the handshake did not promise.
func TestWhatMayComeIsDeclared(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]badserver.Script{
		"a backend that has not answered": late("a", time.Hour),
		"a backend that failed":           broken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backends, _ := backendsOf(map[string]badserver.Script{"a": script}, "a")
				p := plug(t, over(t, &patient, backends), plain)
				var hello mcp.InitializeResult
				p.hello.into(t, &hello)
				assert.Equal(t, []string{"completions", "logging", "prompts", "resources", "tools"}, capabilitiesOf(t, &hello))
				assert.True(t, hello.Capabilities.Resources.Subscribe)
				for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
					answer := p.ask(method, nil)
					assert.Contains(t, string(answer.Result), `":[]`, method)
					assert.Len(t, list(t, answer).Meta.Missing, 1, method)
				}
			})
		})
	}
}

// A promise that was made in the handshake is not broken by an error later.
func TestAListThatLosesItsLastItemIsAnEmptyList(t *testing.T) {
	t.Parallel()
	for _, me := range []who{plain, newest} {
		script := only(`{"tools":{},"prompts":{}}`, serving("one"))
		script.Answers["prompts/list"] = []badserver.Answer{badserver.Prompts("greet").Once(), badserver.Prompts()}
		g, servers := before(t, one(script))
		p := plug(t, g, me)
		require.Len(t, list(t, p.ask("prompts/list", nil)).Prompts, 1)
		servers["one"].Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`))
		require.Eventually(t, func() bool { return len(list(t, p.ask("prompts/list", nil)).Prompts) == 0 }, 10*time.Second, 10*time.Millisecond)
		require.NotNil(t, p.ask("resources/list", nil).Error, "nobody promised any")
	}
}
