package vmcp_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefreshTakesOverWhatChanged(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w link) {
		backend, _ := w.serve(t, "a", with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools("one").Once(), badserver.Tools("one", "two")}}))
		session := build(t, &vmcp.Builder{}, backend)
		require.Equal(t, []string{"a_one"}, toolNames(session))

		changed, err := session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.True(t, changed)
		assert.Equal(t, []string{"a_one", "a_two"}, toolNames(session))
		assert.Equal(t, 2, reportOf(t, session.Report(), "a").Tools)

		changed, err = session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.False(t, changed, "nothing is different now")
	})
}

func TestAFailedRefreshKeepsTheListsAndSaysThatTheyAreOld(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w link) {
		backend, _ := w.serve(t, "a", with(`{"tools":{}}`, answers{"tools/list": {
			badserver.Tools("one").Once(), badserver.Fail(mcp.INTERNAL_ERROR, "the disk is full").Once(), badserver.Tools("one")}}))
		session := build(t, &vmcp.Builder{}, backend)
		since := reportOf(t, session.Report(), "a").Since

		changed, err := session.Refresh(t.Context(), "a")
		require.ErrorIs(t, err, mcp.ErrInternalError)
		require.ErrorContains(t, err, `backend "a"`)
		assert.False(t, changed)
		assert.Equal(t, []string{"a_one"}, toolNames(session))
		report := reportOf(t, session.Report(), "a")
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Contains(t, report.Reason, "its lists are old")
		assert.Contains(t, report.Reason, "the disk is full")
		assert.NotEmpty(t, report.Remedy)
		assert.True(t, report.Since.After(since), "since the lists are old")

		_, err = session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "a").State, "and that is over")
	})
}

func TestARefreshThatItsCallerGivesUpSaysNothingAboutTheServer(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		backend, server := l.serve(t, "a", with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools("one").Once(), {Hang: true}}}))
		session := build(t, &vmcp.Builder{}, backend)
		ctx, give := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := session.Refresh(ctx, "a")
			ended <- err
		}()
		require.NoError(t, server.Await(soon(t), "tools/list", 2))
		give()
		require.ErrorIs(t, <-ended, context.Canceled)
		assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "a").State)
		assert.Equal(t, []string{"a_one"}, toolNames(session))
	})
}

func TestRefreshForgivesByTheSameRule(t *testing.T) {
	t.Parallel()
	missing := badserver.Fail(mcp.METHOD_NOT_FOUND, "Method not found")
	t.Run("a promise that is broken later", func(t *testing.T) {
		t.Parallel()
		backend, _ := links[0].serve(t, "a", with(`{"prompts":{}}`, answers{"prompts/list": {badserver.Prompts("p").Once(), missing}}))
		session := build(t, &vmcp.Builder{}, backend)
		changed, err := session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.True(t, changed)
		assert.Empty(t, promptNames(session))
		assert.Len(t, reportOf(t, session.Report(), "a").Contradictions, 1)
	})
	t.Run("a promise that is kept at last", func(t *testing.T) {
		t.Parallel()
		backend, _ := links[0].serve(t, "a", with(`{"prompts":{}}`, answers{"prompts/list": {missing.Once(), missing.Once(), badserver.Prompts("p")}}))
		session := build(t, &vmcp.Builder{}, backend)
		_, err := session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.Len(t, reportOf(t, session.Report(), "a").Contradictions, 1, "still broken, and told once")
		_, err = session.Refresh(t.Context(), "a")
		require.NoError(t, err)
		assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "a").State)
	})
}

func TestRefreshAndProbeOfABackendThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	good, _ := links[0].serve(t, "good", onlyTools("x"))
	bad, _ := links[0].serve(t, "bad", with(`{"tools":{}}`, answers{"tools/list": {badserver.Fail(mcp.INTERNAL_ERROR, "no")}}))
	session := build(t, &vmcp.Builder{}, good, bad)
	_, err := session.Refresh(t.Context(), "bad")
	require.ErrorIs(t, err, mcp.ErrInternalError)
	require.ErrorIs(t, session.Probe(t.Context(), "bad"), mcp.ErrInternalError)

	var unknown *vmcp.UnknownError
	_, err = session.Refresh(t.Context(), "nobody")
	require.ErrorAs(t, err, &unknown)
	require.ErrorAs(t, session.Probe(t.Context(), "nobody"), &unknown)
	assert.Equal(t, "backend", unknown.Kind)

	require.NoError(t, session.Close())
	_, err = session.Refresh(t.Context(), "good")
	require.ErrorIs(t, err, vmcp.ErrClosed)
	require.ErrorIs(t, session.Probe(t.Context(), "good"), vmcp.ErrClosed)
}

var toolsChanged = json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)

// watched builds a session in a bubble of time, over one in-process server.
func watched(t *testing.T, list ...badserver.Answer) (*vmcp.Session, *badserver.Server) {
	t.Helper()
	server := badserver.New(with(`{"tools":{}}`, answers{"tools/list": list}))
	session, err := (&vmcp.Builder{}).Build(context.Background(), []vmcp.Backend{
		{ID: "a", Connector: connect.To(server, connect.WithProtocolVersion(mcp.ProtocolVersion20250618))}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, session.Close()) })
	return session, server
}

// pass lets the time of a bubble go on.
func pass(d time.Duration) { <-time.After(d) }

func TestABurstOfNotificationsLeadsToOneRefresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		session, server := watched(t, badserver.Tools("one").Once(), badserver.Tools("one", "two"))
		for range 50 {
			server.Notify(toolsChanged)
			pass(5 * time.Millisecond)
		}
		pass(time.Second)
		assert.Equal(t, 2, server.Count("tools/list"), "the first time, and once for them all")
		assert.Equal(t, []string{"a_one", "a_two"}, toolNames(session))
	})
}

func TestAServerThatNotifiesWithoutAChangeIsAskedLessAndLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		noisy := badserver.Tools("one")
		noisy.After = []json.RawMessage{toolsChanged} // whenever it is asked
		_, server := watched(t, noisy)
		pass(2 * time.Minute)
		asked := server.Count("tools/list")
		assert.Less(t, asked, 16)
		pass(5 * time.Minute)
		assert.LessOrEqual(t, server.Count("tools/list")-asked, 11, "every 30 seconds at the most")
	})
}

func TestANotificationDuringARefreshLeadsToAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := badserver.Tools("one", "two").Once()
		slow.Delay = badserver.Duration(time.Second)
		session, server := watched(t, badserver.Tools("one").Once(), slow, badserver.Tools("three"))
		server.Notify(toolsChanged)
		pass(800 * time.Millisecond) // the refresh is under way
		server.Notify(toolsChanged)
		pass(10 * time.Second)
		assert.Equal(t, 3, server.Count("tools/list"))
		assert.Equal(t, []string{"a_three"}, toolNames(session))
	})
}

// The lists are asked for side by side, and each failure is its own.
func TestAListThatTimesOutIsNotTakenForTheErrorOfAnother(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		missing := badserver.Fail(mcp.METHOD_NOT_FOUND, "Method not found")
		backend, server := l.serve(t, "a", with(`{"tools":{},"prompts":{}}`, answers{
			"tools/list": {badserver.Tools("one").Once(), {Hang: true}}, "prompts/list": {missing}}))
		backend.Breaker.Failures = 1
		session := build(t, &vmcp.Builder{}, backend)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := session.Refresh(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, server.Await(soon(t), "prompts/list", 2))
		assert.NotContains(t, err.Error(), "-32601")
		assert.Contains(t, err.Error(), "tools/list: ")
		report := reportOf(t, session.Report(), "a")
		assert.Equal(t, vmcp.Failed, report.State, "it did not answer")
		assert.Contains(t, report.Reason, "tools/list: ")
	})
}

func TestARefreshWhoseTimeIsOverBeforeItBeganSaysNothingAboutTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "a", onlyTools("one"), nil)
		session := build(t, &vmcp.Builder{}, backend)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		for range 20 {
			_, err := session.Refresh(ctx, "a")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		assert.Equal(t, 1, server.Count("tools/list"))
		assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "a").State)
	})
}

func TestANotificationDuringARefreshDoesNotWaitForAListThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := badserver.Fail(mcp.INTERNAL_ERROR, "the database is down")
		slow.Delay = badserver.Duration(time.Second)
		backend, server := hook(t, "a", with(`{"tools":{},"resources":{}}`, answers{
			"tools/list":     {badserver.Tools("one").Once(), badserver.Tools("one").Once(), badserver.Tools("two")},
			"resources/list": {badserver.Result(map[string]any{"resources": []any{}})}, "resources/templates/list": {slow}}), nil)
		backend.Retry.Initial, backend.Retry.Max = time.Hour, time.Hour
		backend.Connector = connect.To(server, connect.WithProtocolVersion(mcp.ProtocolVersion20250618))
		session := build(t, &vmcp.Builder{}, backend)
		server.Notify(toolsChanged)
		pass(800 * time.Millisecond) // the refresh is under way
		require.Equal(t, 2, server.Count("tools/list"))
		server.Notify(toolsChanged)
		pass(10 * time.Second)
		assert.Equal(t, []string{"a_two"}, toolNames(session))
	})
}
