package vmcp_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFailedRefreshIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "a", with(`{"tools":{}}`, answers{"tools/list": {
			badserver.Tools("one").Once(), databaseDown.Once(), databaseDown.Once(), badserver.Tools("one", "two")}}), nil)
		session := build(t, &vmcp.Builder{}, backend)
		heard := listen(session)
		server.Notify(toolsChanged)
		pass(500 * time.Millisecond)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Equal(t, report.Since, report.StaleSince)
		assert.Equal(t, []string{"a_one"}, toolNames(session))
		pass(5 * time.Second)
		assert.Equal(t, []string{"a_one", "a_two"}, toolNames(session))
		assert.True(t, session.Report().Backends[0].StaleSince.IsZero())
		changes, states := heard.take()
		assert.Equal(t, []vmcp.Change{{Tools: true}}, changes)
		assert.Equal(t, []string{"a degraded", "a ready"}, states, "once each")
		assert.Equal(t, 4, server.Count("tools/list"))
	})
}

func TestListsThatStayOldLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "a", with(`{"tools":{}}`, answers{"tools/list": {
			badserver.Tools("one").Once(), {Error: databaseDown.Error, Times: 6}, badserver.Tools("one")}}), nil)
		session := build(t, &vmcp.Builder{StaleFor: 20 * time.Second}, backend)
		server.Notify(toolsChanged)
		pass(20 * time.Second)
		assert.Equal(t, []string{"a_one"}, toolNames(session))
		pass(500 * time.Millisecond)
		assert.Empty(t, toolNames(session))
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Contains(t, report.Reason, "its lists were too old to keep")
		assert.Contains(t, report.Reason, "the database is down")
		_, err := session.CallTool(t.Context(), callOf("a_one"))
		var unavailable *vmcp.UnavailableError
		require.ErrorAs(t, err, &unavailable)
		assert.Contains(t, err.Error(), "too old to keep")
		pass(2 * time.Minute)
		assert.Equal(t, []string{"a_one"}, toolNames(session))
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
	})
}

// A backend that comes back is heard like before.
func TestNotificationsOfAConnectionThatTookTheOthersPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := dies()
		script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("alpha").Once(), badserver.Tools("alpha").Once(), badserver.Tools("alpha", "new")}
		backend, server := hook(t, "a", script, nil)
		session := build(t, &vmcp.Builder{}, backend)
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.Error(t, err)
		pass(2 * time.Second)
		require.Equal(t, []string{"a_alpha"}, toolNames(session))
		server.Notify(toolsChanged)
		pass(time.Second)
		assert.Equal(t, []string{"a_alpha", "a_new"}, toolNames(session))
	})
}

func TestAContradictionOfACallIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("a")
		script.Answers["completion/complete"] = []badserver.Answer{badserver.Fail(mcp.METHOD_NOT_FOUND, missing)}
		backend, _ := hook(t, "a", script, nil)
		var log mcptest.Journal
		session := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)
		heard := listen(session)
		for range 3 {
			_, err := complete(mcp.PromptReference{Type: "ref/prompt", Name: "a_greet"})(t.Context(), session)
			require.NoError(t, err)
			synctest.Wait()
		}
		_, states := heard.take()
		assert.Equal(t, []string{"a degraded"}, states)
		assert.Equal(t, []string{"a backend_ready", "a backend_degraded"}, events(t, &log))
		report := session.Report().Backends[0]
		assert.Contains(t, report.BugReport, "it advertises `completions`, and answers `completion/complete` with: -32601")
	})
}
