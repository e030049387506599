package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logging is a server that takes levels.
func logging(name string) badserver.Script {
	script := serving(name)
	script.Answers["logging/setLevel"] = []badserver.Answer{{}}
	return script
}

func logged(level, text string) json.RawMessage {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"logger":"its","data":%q}}`, level, text)
}

// levelsSent are those that a backend was asked for.
func levelsSent(server *badserver.Server) (levels []string) {
	for _, request := range server.Requests() {
		var params struct{ Level string }
		if request.Method == "logging/setLevel" && json.Unmarshal(request.Params, &params) == nil {
			levels = append(levels, params.Level)
		}
	}
	return levels
}

func TestEachConnectionHasItsLevel(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(logging("one")))
	chatty, quiet, silent := plug(t, g, plain), plug(t, g, plain), plug(t, g, plain)
	require.Nil(t, quiet.ask("logging/setLevel", object{"level": "error"}).Error)
	require.Nil(t, chatty.ask("logging/setLevel", object{"level": "debug"}).Error)
	require.Nil(t, silent.ask("logging/setLevel", object{"level": "emergency"}).Error)
	assert.Equal(t, []string{"error", "debug", "debug"}, levelsSent(servers["one"]), "never more than another connection wants")

	servers["one"].Notify(logged("info", "small talk"))
	servers["one"].Notify(logged("error", "fire"))
	servers["one"].Notify(logged("loud", "of no level that there is"))
	for p, want := range map[*pipe][]string{chatty: {"small talk", "fire", "of no level"}, quiet: {"fire", "of no level"}, silent: {"of no level"}} {
		for _, text := range want {
			assert.Contains(t, string(p.next().Params), text)
		}
	}
	refused := quiet.ask("logging/setLevel", object{"level": "loud"}).Error
	require.NotNil(t, refused)
	assert.Equal(t, mcp.INVALID_PARAMS, refused.Code)
}

func TestAModernRequestGetsTheLogsThatItAsksFor(t *testing.T) {
	t.Parallel()
	script := logging("one")
	script.Answers["tools/call"] = []badserver.Answer{{
		Result: badserver.Result(mcp.NewToolResultText("one")).Result,
		Before: []json.RawMessage{logged("debug", "details"), logged("warning", "smoke")},
	}}
	g, servers := before(t, one(script))
	url := listen(t, g)
	for level, want := range map[string][]string{"": nil, "warning": {"smoke"}, "debug": {"details", "smoke"}} {
		events := reach(t, url, who{protocol: modern, can: object{}, level: level}).begin(t.Context(), "tools/call", object{"name": "one_run"})
		for _, text := range want {
			assert.Contains(t, string(events.next().Params), text)
		}
		assert.Equal(t, "one", events.next().text(t))
	}
	assert.NotEmpty(t, levelsSent(servers["one"]))
}

func TestTheBackendKnowsTheLevelBeforeTheCall(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(logging("one")))
	p := plug(t, g, newest)
	p.level = "debug"
	p.call("one_run")
	p.call("one_run")
	var asked []string
	for _, request := range servers["one"].Requests() {
		if request.Method == "tools/call" || request.Method == "logging/setLevel" {
			asked = append(asked, request.Method)
		}
	}
	assert.Equal(t, []string{"logging/setLevel", "tools/call", "tools/call"}, asked)
}

func TestABackendThatRefusesALevelCostsNobodyHisAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]badserver.Answer{"refuses": badserver.Fail(-32050, "no"), "hangs": {Hang: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				stubborn := logging("stubborn")
				stubborn.Answers["logging/setLevel"] = []badserver.Answer{answer}
				g, _ := before(t, map[string]badserver.Script{"one": logging("one"), "stubborn": stubborn})
				began := time.Now()
				p := plug(t, g, who{protocol: modern, can: object{}, level: "debug"})
				for range 3 {
					assert.Equal(t, "one", p.call("one_run").text(t))
				}
				assert.LessOrEqual(t, time.Since(began), time.Second)
			})
		})
	}
}

func TestWhoSetsALevelIsToldWhichBackendRefuses(t *testing.T) {
	t.Parallel()
	stubborn := logging("stubborn")
	stubborn.Answers["logging/setLevel"] = []badserver.Answer{badserver.Fail(-32050, "no")}
	g, servers := before(t, map[string]badserver.Script{"one": logging("one"), "stubborn": stubborn})
	refused := plug(t, g, plain).ask("logging/setLevel", object{"level": "debug"}).Error
	require.NotNil(t, refused)
	assert.Contains(t, refused.Message, `backend "stubborn"`)
	assert.Equal(t, []string{"debug"}, levelsSent(servers["one"]), "the other one has it")
}

func TestProgressComesAheadOfTheAnswer(t *testing.T) {
	t.Parallel()
	script := serving("one")
	progress := func(n int) json.RawMessage {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"vmcp-1","progress":%d}}`, n)
	}
	script.Answers["tools/call"] = []badserver.Answer{{Result: badserver.Result(mcp.NewToolResultText("one")).Result, Before: []json.RawMessage{progress(1), progress(2)}}}
	for _, me := range []who{plain, newest, asker} {
		g, _ := before(t, one(script))
		w := reach(t, listen(t, g), me)
		events := w.begin(t.Context(), "tools/call", object{"name": "one_run", "_meta": object{"progressToken": "mine"}})
		for n := range 2 {
			assert.JSONEq(t, fmt.Sprintf(`{"progressToken":"mine","progress":%d}`, n+1), string(events.next().Params))
		}
		assert.Equal(t, "one", events.next().text(t))
	}
}
