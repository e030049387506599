package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tell sends something that is not answered.
func (p *pipe) tell(method string, params object) {
	p.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	require.NoError(p.t, err)
	_, err = fmt.Fprintf(p.in, "%s\n", body)
	require.NoError(p.t, err)
}

func TestACancellationReachesTheBackend(t *testing.T) {
	t.Parallel()
	for name, me := range map[string]who{"legacy": plain, "modern": newest, "modern, in a round": asker} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := serving("one")
			script.Answers["tools/call"] = []badserver.Answer{badserver.Answer{Hang: true}.Once(), badserver.Result(object{"content": []any{}})}
			g, servers := before(t, one(script))
			p := plug(t, g, me)
			id := p.begin("tools/call", object{"name": "one_run"})
			require.NoError(t, servers["one"].Await(soon(t), "tools/call", 1))
			p.tell("notifications/cancelled", object{"requestId": id})
			require.NoError(t, servers["one"].Await(soon(t), "notifications/cancelled", 1))
			assert.Nil(t, p.call("one_run").Error, "the next call is another one")
		})
	}
}

func TestChangedRootsAreToldToTheBackendsOfTheCaller(t *testing.T) {
	t.Parallel()
	g, servers := before(t, two())
	p := plug(t, g, who{protocol: legacy, can: object{"roots": object{"listChanged": true}}})
	plug(t, g, plain).tell("notifications/roots/list_changed", object{})
	p.tell("notifications/roots/list_changed", object{})
	for _, server := range servers {
		require.NoError(t, server.Await(soon(t), "notifications/roots/list_changed", 1))
	}
	p.ask("ping", nil)
	assert.Equal(t, 1, servers["one"].Count("notifications/roots/list_changed"), "who has no roots has none that change")
}

// The client's next message comes through the same pipe.
func TestABackendThatDoesNotListenHoldsUpNoMessages(t *testing.T) {
	t.Parallel()
	deaf := serving("deaf")
	deaf.Answers["notifications/roots/list_changed"] = []badserver.Answer{{Hang: true}}
	g, servers := before(t, map[string]badserver.Script{"one": serving("one"), "deaf": deaf})
	p := plug(t, g, who{protocol: legacy, can: everything})
	p.tell("notifications/roots/list_changed", object{})
	require.NoError(t, servers["deaf"].Await(soon(t), "notifications/roots/list_changed", 1))
	assert.Equal(t, "one", p.call("one_run").text(t))
}
