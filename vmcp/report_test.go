package vmcp_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheShapeOfAReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ready, _ := hook(t, "ready", honest(), nil)
		degraded := answering("resources/list", badserver.Fail(mcp.METHOD_NOT_FOUND, "Unknown method: resources/list"))
		degraded.Answers["prompts/list"] = []badserver.Answer{badserver.Result(map[string]any{})}
		degraded.Answers["prompts/list"][0].Delay = badserver.Duration(time.Second) // the last contradiction is the first in order
		broken, _ := hook(t, "degraded", degraded, nil)
		second, _ := hook(t, "second", honest(), nil)
		failing, _ := hook(t, "failing", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "no \"database\"")), nil)
		failing.Retry = vmcp.Retry{Initial: time.Hour, Max: 2 * time.Hour}
		session := build(t, &vmcp.Builder{}, ready, broken, second, failing)

		report := session.Report()
		for i := range report.Backends {
			report.Backends[i].Since = report.Backends[i].Since.UTC()
		}
		next := &report.Backends[3].NextTry
		assert.WithinDuration(t, time.Now().Add(time.Hour), *next, 13*time.Minute, "a fifth more or less, by chance")
		*next = report.Backends[3].Since.Add(time.Hour)
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile("testdata/report.json", []byte(report.String()+"\n"), 0o600))
		}
		want, err := os.ReadFile("testdata/report.json")
		require.NoError(t, err)
		assert.Equal(t, string(want), report.String()+"\n")

		var read vmcp.Report
		require.NoError(t, json.Unmarshal(want, &read))
		for i := range report.Backends {
			report.Backends[i].Err = nil // not part of it
		}
		assert.Equal(t, report, read, "what was written can be read")
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	bad, _ := links[0].serve(t, "bad", answering("tools/list", badserver.Fail(mcp.METHOD_NOT_FOUND, missing)))
	good, _ := links[0].serve(t, "good", honest())
	var log mcptest.Journal
	report := build(t, &vmcp.Builder{Logger: log.Logger()}, bad, good).Report()

	t.Run("finds a backend by its ID", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, vmcp.Ready, reportOf(t, report, "good").State)
		_, ok := report.Backend("none")
		assert.False(t, ok)
		assert.Equal(t, []string{"bad"}, report.Failed())
	})
	t.Run("a failure has its error with its type, what the server said, and what to do", func(t *testing.T) {
		t.Parallel()
		failed := reportOf(t, report, "bad")
		var contradiction *middleware.ContradictionError
		require.ErrorAs(t, failed.Err, &contradiction)
		assert.Contains(t, failed.Reason, `advertises tools, but answers tools/list with -32601 "`+missing+`"`)
		assert.Contains(t, failed.Remedy, "tell the server's authors")
		assert.NotContains(t, failed.Reason, failed.Remedy)
		assert.Equal(t, []string{"tools/list"}, methodsOf(failed.Contradictions))
		assert.Equal(t, []string{"scripted", "1.2.3", legacy}, []string{failed.ServerName, failed.ServerVersion, failed.ProtocolVersion})
	})
	t.Run("the log says the same", func(t *testing.T) {
		t.Parallel()
		want := reportOf(t, report, "bad")
		require.Len(t, log.At(slog.LevelError), 1)
		got := log.At(slog.LevelError)[0]
		assert.Equal(t, want.Reason, got["reason"])
		assert.Equal(t, want.Remedy, got["remedy"])
		assert.Equal(t, want.Target, got["target"])
		var ready map[string]any
		for _, record := range log.At(slog.LevelInfo) {
			if record["event"] == "backend_ready" {
				ready = record
			}
		}
		assert.Equal(t, "good", ready["backendID"])
		assert.EqualValues(t, 2, ready["tools"])
	})
}

func methodsOf(contradictions []middleware.Contradiction) []string {
	var methods []string
	for _, contradiction := range contradictions {
		methods = append(methods, string(contradiction.Method))
	}
	return methods
}

// What is planted must not be in anything that a session or an audit says.
func TestNoSecretsInWhatIsSaid(t *testing.T) {
	t.Parallel()
	const secret = planted
	at := func(address, headerName string) connect.HTTP {
		host := strings.TrimPrefix(address, "http://")
		return connect.HTTP{
			URL:     "http://user-" + secret + ":password-" + secret + "@" + host + "/mcp?key=" + secret,
			Headers: map[string]string{headerName: "Bearer " + secret},
		}
	}
	listen := func(script badserver.Script) string {
		return overHTTP(t, badserver.New(script)).(connect.HTTP).URL
	}
	serving := func(script badserver.Script) connect.HTTP {
		return at(strings.TrimSuffix(listen(script), "/mcp"), "Authorization")
	}
	always := func(answer badserver.Answer) badserver.Script {
		return badserver.Script{Answers: answers{"initialize": {answer}, "server/discover": {answer}, "*": {answer}}}
	}
	targets := map[string]connect.Target{
		"ready":    serving(onlyTools("run")),
		"degraded": serving(answering("prompts/list", badserver.Fail(mcp.METHOD_NOT_FOUND, missing))),
		"lists":    serving(answering("tools/list", badserver.Answer{Cut: true})),
		"refused":  at("http://"+nowhere, "Authorization"),
		"s401":     serving(always(badserver.Plain(401, "no"))),
		"s403":     serving(always(badserver.Plain(403, "no"))),
		"s404":     serving(always(badserver.Plain(404, "no"))),
		"s500":     serving(always(badserver.Plain(500, "no"))),
		"cut":      serving(always(badserver.Answer{Cut: true})),
		"moved":    serving(always(badserver.Answer{Status: 302, Headers: map[string]string{"Location": "http://127.0.0.1:1/"}})),
		"header":   at("http://"+nowhere, "not a header"),
		"url":      connect.HTTP{URL: "://" + secret},
		"port":     connect.HTTP{URL: "http://host:" + secret + "/mcp"},
		"sse":      connect.SSE{URL: "http://" + secret + ":" + secret + "@" + nowhere + "/?k=" + secret, Headers: map[string]string{"X-Key": secret}},
		"none":     connect.Stdio{Command: "/no/such/command", Args: []string{"--key", secret}, Env: map[string]string{"KEY": secret}},
		"dies":     connect.Stdio{Command: thisProgram(t), Args: []string{secret}, Env: map[string]string{dyingVariable: "1", "KEY": secret}},
	}
	var backends []vmcp.Backend
	var log mcptest.Journal
	for id, target := range targets {
		backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(target, connect.WithLogger(log.Logger()))})
	}
	builder := &vmcp.Builder{Logger: log.Logger()}
	session := build(t, builder, backends...)
	assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "ready").State)
	assert.Equal(t, vmcp.Degraded, reportOf(t, session.Report(), "degraded").State)
	assert.Len(t, session.Report().Failed(), len(targets)-2)
	assert.NotContains(t, session.Report().String(), secret)
	for _, backend := range session.Report().Backends {
		if backend.Err != nil {
			assert.NotContains(t, backend.Err.Error(), secret, backend.ID)
		}
	}
	_, err := session.CallTool(t.Context(), callOf("dies_tool"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret)

	for i := range backends {
		backends[i].Required = true
	}
	assert.NotContains(t, buildError(t, builder, backends...).Error(), secret)

	audits, err := builder.Audit(t.Context(), backends)
	require.NoError(t, err)
	said, err := json.Marshal(audits)
	require.NoError(t, err)
	assert.NotContains(t, string(said), secret)
	for _, audit := range audits {
		assert.NotContains(t, audit.BugReport(), secret, audit.ID)
	}
	assert.NotContains(t, log.String(), secret)
}
