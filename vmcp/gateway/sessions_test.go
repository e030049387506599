package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// one is the script of a gateway before one server.
func one(script badserver.Script) map[string]badserver.Script {
	return map[string]badserver.Script{"one": script}
}

func builds(server *badserver.Server) int { return server.Count("initialize") }

func TestConcurrentFirstRequestsShareOneSession(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(serving("one")))
	url := listen(t, g)
	var asking sync.WaitGroup
	for i := range 16 {
		asking.Go(func() {
			me := []who{plain, newest}[i%2]
			assert.Equal(t, "one", reach(t, url, me).call("one_run").text(t))
		})
	}
	asking.Wait()
	assert.Equal(t, 1, builds(servers["one"]))
	assert.Equal(t, 16, servers["one"].Count("tools/call"))
}

func TestAllConnectionsOfACallerShareHisSession(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(serving("one")))
	url := listen(t, g)
	assert.Equal(t, "one", reach(t, url, plain).call("one_run").text(t))
	assert.Equal(t, "one", reach(t, url, newest).call("one_run").text(t))
	assert.Equal(t, "one", plug(t, g, plain).call("one_run").text(t))
	assert.Equal(t, "one", plug(t, g, newest).call("one_run").text(t))
	assert.Equal(t, 1, builds(servers["one"]))
}

func TestTheCheckAtStartIsTheFirstCallersSession(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(serving("one")))
	report, err := g.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, vmcp.Ready, report.Backends[0].State)
	plug(t, g, plain)
	assert.Equal(t, 1, builds(servers["one"]))
}

func TestWhoCanBeAskedForOtherThingsHasAnotherSession(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(serving("one")))
	for i, can := range []object{{}, {"sampling": object{}}, {"roots": object{}}, everything} {
		plug(t, g, who{protocol: legacy, can: can})
		assert.Equal(t, i+1, builds(servers["one"]), "%v", can)
		plug(t, g, who{protocol: modern, can: can})
		assert.Equal(t, i+1, builds(servers["one"]), "%v", can)
	}
}

// Over stdio a client may connect twice.
func TestAClientThatConnectsAgainHasOneSessionOnly(t *testing.T) {
	t.Parallel()
	script := serving("one")
	script.Answers["tools/list"] = []badserver.Answer{{Result: badserver.Tools("run").Result, Times: 2}, badserver.Tools("run", "new")}
	g, servers := before(t, one(script))
	p := plug(t, g, plain)
	p.ask("initialize", who{protocol: legacy, can: everything}.initialize())
	require.Equal(t, 2, builds(servers["one"]))
	servers["one"].Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	p.until(mcp.MethodNotificationToolsListChanged)
	p.ask("ping", nil)
	assert.True(t, p.silent(), "told once, though both sessions have changed")
}

func TestIdentitiesHaveSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	ann, bob := strings.Repeat("a", 32), strings.Repeat("b", 32)
	tokens, err := gateway.ReadTokens(strings.NewReader("ann " + ann + "\nbob " + bob + "\n"))
	require.NoError(t, err)
	g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Tokens = tokens })
	url := listen(t, g)
	hers := reach(t, url, plain, "Authorization", "Bearer "+ann)
	reach(t, url, newest, "Authorization", "bearer "+ann)
	assert.Equal(t, 1, builds(servers["one"]))
	his := reach(t, url, newest, "Authorization", "Bearer "+bob)
	assert.Equal(t, 2, builds(servers["one"]))

	his.protocol, his.session = legacy, hers.session
	stolen := his.begin(t.Context(), "tools/call", object{"name": "one_run"})
	assert.Equal(t, http.StatusNotFound, stolen.status)
	assert.NotNil(t, stolen.answer().Error)
	assert.Equal(t, http.StatusNotFound, his.send(t.Context(), http.MethodDelete, nil, nil).StatusCode)
	assert.Equal(t, "one", hers.call("one_run").text(t), "it is hers still")
}

func TestASessionThatDidNotComeAboutIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, me := range []who{plain, newest} {
		script := serving("one")
		script.Answers["tools/list"] = []badserver.Answer{badserver.Fail(-32000, "warming up").Once(), badserver.Tools("run")}
		g, _ := before(t, one(script))
		p := plug(t, g, me)
		require.NotNil(t, p.hello.Error)
		assert.Equal(t, mcp.INTERNAL_ERROR, p.hello.Error.Code)
		assert.Contains(t, p.hello.Error.Message, `backend "one" failed`)
		assert.Contains(t, p.hello.Error.Message, "warming up")
		assert.Contains(t, string(p.hello.Error.Data), `"backend":"one"`)
		assert.Equal(t, "one", p.call("one_run").text(t))
	}
}

// counted is an observer that knows how many sessions there are.
type counted struct{ sessions atomic.Int64 }

func (c *counted) Set(vmcp.Report)           {}
func (c *counted) Update(vmcp.BackendReport) {}
func (c *counted) SetSessions(n int)         { c.sessions.Store(int64(n)) }

func TestAnIdleSessionEndsAndIsBuiltAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &counted{}
		g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Idle, o.Observer = time.Minute, seen })
		p := plug(t, g, newest)
		p.call("one_run")
		other := plug(t, g, who{protocol: modern, can: object{"sampling": object{}}})
		<-time.After(50 * time.Second)
		other.call("one_run")
		<-time.After(20 * time.Second)
		assert.EqualValues(t, 1, seen.sessions.Load(), "one was used 20 s ago, the other 70 s ago")
		<-time.After(3*time.Minute + time.Second)
		assert.EqualValues(t, 1, seen.sessions.Load(), "the last one stays: somebody has to look after the backends")
		assert.Equal(t, "one", p.call("one_run").text(t))
		assert.EqualValues(t, 2, seen.sessions.Load())
		assert.Equal(t, 3, builds(servers["one"]))
	})
}

// Who is connected may have subscribed to something.
func TestAConnectedClientKeepsTheSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Idle = time.Minute })
		p := plug(t, g, plain)
		<-time.After(time.Hour)
		p.call("one_run")
		assert.Equal(t, 1, builds(servers["one"]))
	})
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Sessions = 1 })
	p := plug(t, g, newest)
	refused := plug(t, g, who{protocol: modern, can: everything}).hello
	require.NotNil(t, refused.Error)
	assert.Equal(t, http.StatusServiceUnavailable, refused.Error.Code)
	assert.Equal(t, "there are 1 sessions already; try again later", refused.Error.Message)
	assert.Equal(t, "one", p.call("one_run").text(t))
	assert.Equal(t, 1, builds(servers["one"]))
}

// The session that was used last is kept, but not against somebody who comes.
func TestAnIdleSessionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &counted{}
		g, servers := before(t, one(serving("one")), func(o *gateway.Options) { o.Sessions, o.Idle, o.Observer = 1, time.Minute, seen })
		plug(t, g, newest)
		<-time.After(50 * time.Second)
		require.NotNil(t, plug(t, g, asker).hello.Error)
		<-time.After(20 * time.Second)
		require.Nil(t, plug(t, g, asker).hello.Error)
		assert.EqualValues(t, 1, seen.sessions.Load())
		assert.Equal(t, 2, builds(servers["one"]))
	})
}

func TestAShutdownWaitsForCallsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("one")
		script.Answers["tools/call"] = []badserver.Answer{{Result: badserver.Result(mcp.NewToolResultText("late")).Result, Delay: badserver.Duration(5 * time.Second)}}
		g, servers := before(t, one(script))
		p := plug(t, g, plain)
		id := p.begin("tools/call", object{"name": "one_run"})
		require.NoError(t, servers["one"].Await(t.Context(), "tools/call", 1))
		began := time.Now()
		require.NoError(t, g.Shutdown(t.Context()))
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Equal(t, "late", p.answer(id).text(t))
		_, err := g.Check(t.Context())
		require.ErrorContains(t, err, "shutting down")
	})
}

func TestAShutdownEndsCallsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("one")
		script.Answers["tools/call"] = []badserver.Answer{{Hang: true}}
		g, servers := before(t, one(script))
		p := plug(t, g, plain)
		id := p.begin("tools/call", object{"name": "one_run"})
		require.NoError(t, servers["one"].Await(t.Context(), "tools/call", 1))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, g.Shutdown(ctx), context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(began))
		refused := p.answer(id).Error
		require.NotNil(t, refused)
		assert.Equal(t, http.StatusServiceUnavailable, refused.Code)
		assert.Contains(t, refused.Message, "shutting down")
	})
}

// A backend that does not take notice of anything must not hold up the end.
func TestAShutdownDoesNotWaitForABackendsConsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("one")
		script.Answers["resources/subscribe"] = []badserver.Answer{{}}
		script.Answers["resources/unsubscribe"] = []badserver.Answer{{Hang: true}}
		g, _ := before(t, one(script))
		p := plug(t, g, plain)
		require.Nil(t, p.ask("resources/subscribe", object{"uri": "res://one"}).Error)
		began := time.Now()
		require.NoError(t, g.Shutdown(t.Context()))
		assert.Zero(t, time.Since(began))
	})
}
