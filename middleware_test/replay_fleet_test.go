package middleware_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These cases are about more than one exchange: what a session over several
// backends, and a connector, make of them. Each test has the case's id.

// serving is a script that has these tools.
func serving(tools ...string) badserver.Script {
	return badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`), Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools(tools...)}}}
}

func refusing(answer badserver.Answer) badserver.Script {
	return badserver.Script{Answers: map[string][]badserver.Answer{"initialize": {answer}, "server/discover": {answer}}}
}

// backend serves a script until the test ends.
func backend(t *testing.T, id string, script badserver.Script, over func(*badserver.Server) (connect.Target, func())) vmcp.Backend {
	t.Helper()
	target, stop := over(badserver.New(script))
	t.Cleanup(stop)
	return vmcp.Backend{ID: id, Connector: connect.To(target)}
}

func sessionOver(t *testing.T, backends ...vmcp.Backend) *vmcp.Session {
	t.Helper()
	session, err := (&vmcp.Builder{}).Build(t.Context(), backends)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, session.Close()) })
	return session
}

func noSession(t *testing.T, backends ...vmcp.Backend) *vmcp.BuildError {
	t.Helper()
	session, err := (&vmcp.Builder{}).Build(t.Context(), backends)
	require.Nil(t, session)
	var failed *vmcp.BuildError
	require.ErrorAs(t, err, &failed)
	return failed
}

func reportOn(t *testing.T, session *vmcp.Session, id string) vmcp.BackendReport {
	t.Helper()
	report, ok := session.Report().Backend(id)
	require.True(t, ok)
	return report
}

func TestReplayOfAFleet(t *testing.T) {
	t.Parallel()
	down := badserver.Plain(503, "Service Unavailable")
	for id, test := range map[string]func(*testing.T){
		"A05 two methods, two warnings": func(t *testing.T) {
			script := theCase(t, "A05").script(legacy, false)
			script.Answers["prompts/list"] = []badserver.Answer{badserver.Fail(-32601, "Method not found")}
			session := sessionOver(t, backend(t, "two", script, inProcess))
			assert.Len(t, reportOn(t, session, "two").Contradictions, 2)
		},
		"B05 an honest empty list is not a forgiven one": func(t *testing.T) {
			session := sessionOver(t,
				backend(t, "honest", theCase(t, "B05").script(legacy, false), inProcess),
				backend(t, "forgiven", theCase(t, "A01").script(legacy, false), inProcess))
			assert.Equal(t, vmcp.Ready, reportOn(t, session, "honest").State)
			assert.Equal(t, vmcp.Degraded, reportOn(t, session, "forgiven").State)
		},
		"C06 capabilities are those of this connection": func(t *testing.T) {
			hello := func(capabilities string) badserver.Answer {
				return badserver.Result(map[string]any{"protocolVersion": legacy, "capabilities": json.RawMessage(capabilities), "serverInfo": map[string]string{"name": "a", "version": "1"}})
			}
			script := serving("t")
			script.Answers["initialize"] = []badserver.Answer{hello(`{"tools":{}}`).Once(), hello(`{}`)}
			one := backend(t, "one", script, inProcess)
			assert.Equal(t, names{"one_t"}, exposed(sessionOver(t, one)))
			assert.Empty(t, exposed(sessionOver(t, one)), "another user")
		},
		"G07 a long line arrives whole": func(t *testing.T) {
			name := strings.Repeat("x", theCase(t, "G07").Answer.BodyBytes)
			target, stop := overStdio(badserver.New(serving(name)))
			defer stop()
			opened, err := connect.Open(t.Context(), target)
			require.NoError(t, err)
			defer opened.Close()
			got, err := tools.whole(t.Context(), opened)
			require.NoError(t, err)
			assert.Equal(t, names{name}, got)
		},
		"H01 tools that were late are there after a refresh": func(t *testing.T) {
			script := serving("late")
			script.Answers["tools/list"] = []badserver.Answer{badserver.Tools().Once(), badserver.Tools("late")}
			session := sessionOver(t, backend(t, "warm", script, inProcess))
			assert.Equal(t, vmcp.Ready, reportOn(t, session, "warm").State)
			changed, err := session.Refresh(t.Context(), "warm")
			require.NoError(t, err)
			assert.True(t, changed)
			assert.Equal(t, names{"warm_late"}, exposed(session))
		},
		"J07 the connector remembers the protocol": func(t *testing.T) {
			server := badserver.New(serving("t"))
			defer server.Close()
			connector := connect.To(server)
			for range 2 {
				opened, err := connector.Open(t.Context())
				require.NoError(t, err)
				require.NoError(t, opened.Close())
			}
			assert.Equal(t, 1, server.Count("server/discover"))
		},
		"N01 a required backend fails the build": func(t *testing.T) {
			bad, good := backend(t, "bad", refusing(down), overHTTP), backend(t, "good", serving("t"), inProcess)
			assert.Equal(t, names{"good_t"}, exposed(sessionOver(t, bad, good)))
			bad.Required = true
			var status *wire.StatusError
			require.ErrorAs(t, noSession(t, bad, good), &status)
			assert.Equal(t, 503, status.StatusCode)
		},
		"N02, N03, N16 the good tools and a list of failures": func(t *testing.T) {
			dead := refusing(badserver.Answer{Exit: true})
			session := sessionOver(t, backend(t, "one", serving("t"), inProcess), backend(t, "dead", dead, overStdio),
				backend(t, "gone", dead, overHTTP), backend(t, "two", serving("t"), overHTTP))
			assert.Equal(t, names{"one_t", "two_t"}, exposed(session))
			assert.Equal(t, []string{"dead", "gone"}, session.Report().Failed())
		},
		"N06, N07, N08 all fail, and each says why": func(t *testing.T) {
			login := serving()
			login.Answers["tools/list"] = []badserver.Answer{badserver.Plain(401, "Unauthorized")}
			failed := noSession(t, backend(t, "login", login, overHTTP), backend(t, "down", refusing(down), overHTTP))
			require.ErrorIs(t, failed, transport.ErrAuthorizationRequired)
			assert.Equal(t, []string{"login", "down"}, failed.Report.Failed())
			assert.ErrorContains(t, failed, "Service Unavailable")
		},
		"N10, N21 the gateway promises what is served": func(t *testing.T) {
			g := gateway.New(&vmcp.Builder{}, []vmcp.Backend{
				backend(t, "forgiven", theCase(t, "A20").script(legacy, false), inProcess),
				backend(t, "broken", theCase(t, "N10").script(legacy, false), overHTTP),
			}, gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}})
			endpoint := httptest.NewServer(g)
			defer endpoint.Close()
			defer func() { require.NoError(t, g.Shutdown(context.Background())) }()
			opened, err := connect.Open(t.Context(), connect.HTTP{URL: endpoint.URL})
			require.NoError(t, err)
			defer opened.Close()
			server, _ := opened.Server()
			assert.NotNil(t, server.Capabilities.Tools)
			assert.Nil(t, server.Capabilities.Prompts, "an empty promise is not repeated")
			assert.Nil(t, server.Capabilities.Resources)
		},
		"N12 a long name is called by": func(t *testing.T) {
			script := theCase(t, "N12").script(legacy, false)
			script.Answers["tools/call"] = []badserver.Answer{badserver.Result(map[string]any{"content": []any{}})}
			server := badserver.New(script)
			defer server.Close()
			session := sessionOver(t, vmcp.Backend{ID: "long", Connector: connect.To(server)})
			require.Len(t, exposed(session), 1)
			_, err := session.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: exposed(session)[0]}})
			require.NoError(t, err)
			requests := server.Requests()
			assert.Contains(t, string(requests[len(requests)-1].Params), strings.Repeat("x", 65))
		},
		"H06, N13, N14 a failed refresh says so, costs nothing, and passes": func(t *testing.T) {
			script := serving("t")
			script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("t").Once(), badserver.Fail(-32603, "database is locked").Once(), badserver.Tools("t")}
			session := sessionOver(t, backend(t, "moody", script, inProcess))
			_, err := session.Refresh(t.Context(), "moody")
			require.ErrorIs(t, err, mcp.ErrInternalError)
			assert.Equal(t, names{"moody_t"}, exposed(session))
			assert.Contains(t, reportOn(t, session, "moody").Reason, "database is locked")
			_, err = session.Refresh(t.Context(), "moody")
			require.NoError(t, err)
			assert.Equal(t, vmcp.Ready, reportOn(t, session, "moody").State)
		},
		"N17, N19, N20 the report has the reason, and who asks is told": func(t *testing.T) {
			session := sessionOver(t, backend(t, "good", serving("t"), inProcess),
				backend(t, "down", refusing(badserver.Plain(502, "upstream is away")), overHTTP),
				backend(t, "login", refusing(badserver.Plain(401, "Unauthorized")), overHTTP))
			down := reportOn(t, session, "down")
			for _, part := range []string{"http://127.0.0.1", "502", "upstream is away"} {
				assert.Contains(t, down.Reason, part)
			}
			assert.Contains(t, reportOn(t, session, "login").Remedy, "credentials")
			_, err := session.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "down_t"}})
			var unavailable *vmcp.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			assert.ErrorContains(t, err, "upstream is away")
		},
		"X14 a cancelled call is no contradiction": func(t *testing.T) {
			server := badserver.New(theCase(t, "X14").script(legacy, false))
			defer server.Close()
			var log mcptest.Journal
			opened, err := connect.Open(t.Context(), server, middleware.Default(log.Logger(), nil))
			require.NoError(t, err)
			defer opened.Close()
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = server.Await(t.Context(), "resources/list", 1); cancel() }()
			_, err = resources.whole(ctx, opened)
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, slog.LevelDebug.String(), log.Loudest(), "who cancels knows")
		},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// TestReplayInTime has the cases that are about time, which is a bubble's.
func TestReplayInTime(t *testing.T) {
	t.Parallel()
	t.Run("H03, H04, H11 one that is slow holds up nobody for longer than the limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := badserver.New(theCase(t, "H03").script(legacy, false))
			good := badserver.New(serving("t"))
			start := time.Now()
			session, err := (&vmcp.Builder{Timeout: 10 * time.Second}).Build(t.Context(), []vmcp.Backend{
				{ID: "slow", Connector: connect.To(slow)}, {ID: "good", Connector: connect.To(good)},
			})
			require.NoError(t, err)
			assert.Equal(t, 10*time.Second, time.Since(start))
			assert.Equal(t, names{"good_t"}, exposed(session))
			require.ErrorIs(t, reportOn(t, session, "slow").Err, context.DeadlineExceeded)
			require.NoError(t, session.Close())
			_, _ = slow.Close(), good.Close()
		})
	})
	t.Run("K02 a server that notifies whenever it is asked is asked less and less", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			script := theCase(t, "K02").script(legacy, false)
			script.Answers["tools/list"][0].Before = []json.RawMessage{toolsChanged}
			server := badserver.New(script)
			session, err := (&vmcp.Builder{}).Build(t.Context(), []vmcp.Backend{{ID: "loop", Connector: connect.To(server)}})
			require.NoError(t, err)
			<-time.After(10 * time.Minute)
			assert.Greater(t, server.Count("tools/list"), 2, "it is heard")
			assert.Less(t, server.Count("tools/list"), 40, "and does not keep the session busy")
			require.NoError(t, session.Close())
			_ = server.Close()
		})
	})
}
