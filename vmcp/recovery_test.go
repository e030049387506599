package vmcp_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is what a session has told, in the order of time.
type told struct {
	mu      sync.Mutex
	changes []vmcp.Change
	states  []vmcp.BackendReport
}

func listen(s *vmcp.Session) *told {
	heard := &told{}
	s.OnChange(func(c vmcp.Change) {
		heard.mu.Lock()
		defer heard.mu.Unlock()
		heard.changes = append(heard.changes, c)
	})
	s.OnState(func(r vmcp.BackendReport) {
		heard.mu.Lock()
		defer heard.mu.Unlock()
		heard.states = append(heard.states, r)
	})
	return heard
}

// take returns what was told since the last time, the states as "ID state".
func (h *told) take() (changes []vmcp.Change, states []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, report := range h.states {
		states = append(states, report.ID+" "+string(report.State))
	}
	changes = h.changes
	h.changes, h.states = nil, nil
	return changes, states
}

// events are the records of a log about states, as "ID event".
func events(t *testing.T, log *mcptest.Journal) []string {
	t.Helper()
	found := []string{}
	for _, level := range []slog.Level{slog.LevelError, slog.LevelInfo} {
		for _, record := range log.At(level) {
			if event, ok := record["event"].(string); ok && record["backendID"] != nil && record["target"] != nil {
				found = append(found, record["backendID"].(string)+" "+event)
			}
		}
	}
	return found
}

var databaseDown = badserver.Fail(mcp.INTERNAL_ERROR, "the database is down")

func TestABackendThatFailedComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, _ := hook(t, "good", honest(), nil)
		bad, server := hook(t, "bad", with(`{"tools":{}}`, answers{
			"tools/list": {databaseDown.Once(), databaseDown.Once(), badserver.Tools("query")},
			"tools/call": {badserver.Result(mcp.NewToolResultText("done"))},
		}), nil)
		var log mcptest.Journal
		session := build(t, &vmcp.Builder{Logger: log.Logger()}, good, bad)
		heard := listen(session)
		began := time.Now()
		_, err := session.CallTool(t.Context(), callOf("bad_query"))
		var unavailable *vmcp.UnavailableError
		require.ErrorAs(t, err, &unavailable)
		require.ErrorIs(t, err, mcp.ErrInternalError, "its cause is reached through it")
		assert.Equal(t, []string{"tool", "bad_query", "bad"}, []string{unavailable.Kind, unavailable.Name, unavailable.Backend.ID})
		for _, part := range []string{`tool "bad_query"`, `backend "bad"`, "failed since 2000-01-01T00:00:00Z", "the database is down", unavailable.Backend.Remedy} {
			assert.Contains(t, err.Error(), part)
		}
		report := reportOf(t, session.Report(), "bad")
		assert.Equal(t, 1, report.Attempts)
		assert.WithinDuration(t, began.Add(time.Second), report.NextTry, 200*time.Millisecond)

		pass(1300 * time.Millisecond)
		report = reportOf(t, session.Report(), "bad")
		assert.Equal(t, 2, report.Attempts)
		assert.Equal(t, began, report.Since, "it has been failed since the first time")
		pass(3 * time.Second)
		report = reportOf(t, session.Report(), "bad")
		assert.Equal(t, vmcp.Ready, report.State)
		assert.Zero(t, report.Attempts)
		assert.True(t, report.NextTry.IsZero())
		assert.Equal(t, []string{"bad_query", "good_alpha", "good_beta"}, toolNames(session))
		_, err = session.CallTool(t.Context(), callOf("bad_query"))
		require.NoError(t, err)

		changes, states := heard.take()
		assert.Equal(t, []vmcp.Change{{Tools: true}}, changes, "only what differs")
		assert.Equal(t, []string{"bad ready"}, states, "once; failing again is no change")
		assert.ElementsMatch(t, []string{"bad backend_failed", "good backend_ready", "bad backend_recovered"}, events(t, &log))
		pass(time.Hour)
		dialed, open := server.open()
		assert.Equal(t, 3, dialed)
		assert.Equal(t, 1, open, "and what failed was closed")
	})
}

// attempts returns when a backend was dialed in a while, by the failures that
// its attempts end in.
func attempts(t *testing.T, retry vmcp.Retry, failure error, during time.Duration) []time.Time {
	t.Helper()
	var at []time.Time
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		bad, _ := hook(t, "bad", honest(), func(_ context.Context, method string) error {
			if method == "tools/list" {
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Now())
				return failure
			}
			return nil
		})
		bad.Retry = retry
		build(t, &vmcp.Builder{AllowEmpty: true}, bad)
		pass(during)
		mu.Lock()
		defer mu.Unlock()
	})
	return at
}

func TestTheTimeBetweenAttemptsGrows(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		retry   vmcp.Retry
		failure error
		want    []int // seconds
	}{
		{"1 s to 1 min by default", vmcp.Retry{}, errors.New("no"), []int{1, 2, 4, 8, 16, 32, 60, 60}},
		{"as set", vmcp.Retry{Initial: 5 * time.Second, Max: 15 * time.Second}, errors.New("no"), []int{5, 10, 15, 15}},
		{"never longer than Max", vmcp.Retry{Initial: time.Hour, Max: 10 * time.Second}, errors.New("no"), []int{10, 10}},
		{"a refused login, Max at once", vmcp.Retry{}, transport.ErrAuthorizationRequired, []int{60, 60}},
		{"a forbidden one", vmcp.Retry{}, &wire.StatusError{StatusCode: http.StatusForbidden}, []int{60}},
		{"a protocol that is not spoken", vmcp.Retry{}, mcp.UnsupportedProtocolVersionError{}, []int{60}},
		{"a command that is not there", vmcp.Retry{}, fs.ErrNotExist, []int{60}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var during time.Duration
			for _, seconds := range c.want {
				during += time.Duration(seconds) * 1200 * time.Millisecond
			}
			at := attempts(t, c.retry, c.failure, during)
			if mcp.IsUnsupportedProtocolVersion(c.failure) {
				at = every(at, 2) // each attempt is two: it falls back to an older one first
			}
			require.Greater(t, len(at), len(c.want))
			for i, seconds := range c.want {
				want, gap := float64(seconds), at[i+1].Sub(at[i]).Seconds()
				assert.InDelta(t, want, gap, 0.2*want+1e-6, "gap %d", i)
			}
		})
	}
}

func every(all []time.Time, n int) []time.Time {
	var some []time.Time
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

func TestTheTimeBetweenAttemptsIsNotTheSameForAll(t *testing.T) {
	t.Parallel()
	gaps := map[time.Duration]bool{}
	for range 5 {
		at := attempts(t, vmcp.Retry{}, errors.New("no"), 2*time.Second)
		gaps[at[1].Sub(at[0])] = true
	}
	assert.Greater(t, len(gaps), 1)
}

// slow is a server that needs as long for its tools.
func slow(d time.Duration) badserver.Script {
	tools := badserver.Tools("late")
	tools.Delay = badserver.Duration(d)
	return with(`{"tools":{}}`, answers{"tools/list": {tools}})
}

func TestTheSoftDeadline(t *testing.T) {
	t.Parallel()
	t.Run("a late backend joins when it answers", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			good, _ := hook(t, "good", honest(), nil)
			late, _ := hook(t, "late", slow(7*time.Second), nil)
			began := time.Now()
			var log mcptest.Journal
			ctx, cancel := context.WithCancel(t.Context())
			session, err := (&vmcp.Builder{SoftDeadline: 5 * time.Second, Logger: log.Logger()}).Build(ctx, []vmcp.Backend{good, late})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, session.Close()) })
			cancel()
			heard := listen(session)
			assert.Equal(t, 5*time.Second, time.Since(began))
			assert.Equal(t, []string{"good_alpha", "good_beta"}, toolNames(session))
			report := reportOf(t, session.Report(), "late")
			assert.Equal(t, vmcp.Connecting, report.State)
			assert.NotEmpty(t, report.Reason)
			assert.NotEmpty(t, report.Remedy)
			assert.Equal(t, began, report.Since)
			_, err = session.CallTool(t.Context(), callOf("late_late"))
			var unavailable *vmcp.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			assert.Equal(t, vmcp.Connecting, unavailable.Backend.State)

			pass(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, []string{"good_alpha", "good_beta", "late_late"}, toolNames(session))
			changes, states := heard.take()
			assert.Equal(t, []vmcp.Change{{Tools: true}}, changes)
			assert.Equal(t, []string{"late ready"}, states)
			assert.Equal(t, []string{"good backend_ready", "late backend_connecting", "late backend_ready"}, events(t, &log))
		})
	})
	t.Run("nobody waits for it if all have answered", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			good, _ := hook(t, "good", slow(time.Second), nil)
			began := time.Now()
			build(t, &vmcp.Builder{SoftDeadline: 5 * time.Second}, good)
			assert.Equal(t, time.Second, time.Since(began))
		})
	})
	t.Run("a required backend is waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			required, _ := hook(t, "required", slow(9*time.Second), nil)
			required.Required = true
			other, _ := hook(t, "other", slow(20*time.Second), nil)
			began := time.Now()
			session := build(t, &vmcp.Builder{SoftDeadline: 5 * time.Second}, other, required)
			assert.Equal(t, 9*time.Second, time.Since(began))
			assert.Equal(t, vmcp.Connecting, reportOf(t, session.Report(), "other").State)
			assert.True(t, reportOf(t, session.Report(), "required").Required)
		})
	})
	t.Run("up to its own time-out", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			required, _ := hook(t, "required", slow(time.Minute), nil)
			required.Required, required.Timeout = true, 8*time.Second
			began := time.Now()
			failed := buildError(t, &vmcp.Builder{SoftDeadline: 5 * time.Second}, required)
			assert.Equal(t, 8*time.Second, time.Since(began))
			require.ErrorIs(t, failed, context.DeadlineExceeded)
			assert.True(t, failed.Report.Backends[0].NextTry.IsZero(), "nothing is tried again")
		})
	})
	t.Run("closing ends the attempts", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			late, server := hook(t, "late", slow(time.Hour), nil)
			session, err := (&vmcp.Builder{SoftDeadline: time.Second, Timeout: 2 * time.Hour}).Build(t.Context(), []vmcp.Backend{late})
			require.NoError(t, err, "it may come yet")
			began := time.Now()
			require.NoError(t, session.Close())
			assert.Less(t, time.Since(began), time.Second)
			_, open := server.open()
			assert.Zero(t, open)
		})
	})
}

func TestAllowEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, _ := hook(t, "bad", with(`{"tools":{}}`, answers{"tools/list": {databaseDown.Once(), badserver.Tools("query")}}), nil)
		session := build(t, &vmcp.Builder{AllowEmpty: true}, bad)
		assert.Equal(t, []string{"bad"}, session.Report().Failed())
		pass(2 * time.Second)
		assert.Equal(t, []string{"bad_query"}, toolNames(session))

		required, _ := hook(t, "required", answering("tools/list", databaseDown), nil)
		required.Required = true
		buildError(t, &vmcp.Builder{AllowEmpty: true}, required)
	})
}

// dies is a server whose process ends at the first call of a tool.
func dies() badserver.Script {
	script := serving("dies")
	script.Answers["tools/call"] = []badserver.Answer{{Exit: true, Times: 1}, badserver.Result(mcp.NewToolResultText("dies"))}
	return script
}

func TestABackendThatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, _ := hook(t, "good", serving("good"), nil)
		lost, server := hook(t, "lost", dies(), nil)
		lost.Retry.Initial, lost.Retry.Max = time.Hour, time.Hour
		var log mcptest.Journal
		session := build(t, &vmcp.Builder{Logger: log.Logger(), StaleFor: time.Minute}, good, lost)
		heard := listen(session)
		pass(time.Second)
		began := time.Now()
		_, err := session.CallTool(t.Context(), callOf("lost_alpha"))
		require.ErrorIs(t, err, transport.ErrTransportClosed)
		assert.Contains(t, err.Error(), `backend "lost": it was lost during the request`)

		asked := len(server.Requests())
		for _, do := range []func(context.Context, *vmcp.Session) (string, error){
			callTool("lost_alpha"), getPrompt("lost_greet"), readResource("res://dies"), complete(mcp.PromptReference{Type: "ref/prompt", Name: "lost_greet"}),
		} {
			_, err := do(t.Context(), session)
			var unavailable *vmcp.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			require.ErrorIs(t, err, transport.ErrTransportClosed)
			assert.Equal(t, "lost", unavailable.Backend.ID)
			assert.NotContains(t, unavailable.Name, "greet_", "the exposed name")
		}
		assert.Len(t, server.Requests(), asked, "it was not asked")
		_, err = session.Refresh(t.Context(), "lost")
		require.ErrorIs(t, err, transport.ErrTransportClosed)
		_, err = session.CallTool(t.Context(), callOf("good_alpha"))
		require.NoError(t, err)

		synctest.Wait()
		report := reportOf(t, session.Report(), "lost")
		assert.Equal(t, vmcp.Failed, report.State)
		assert.Equal(t, began, report.Since)
		assert.Equal(t, began, report.StaleSince)
		assert.Equal(t, 2, report.Tools, "the last good lists")
		assert.Zero(t, report.Attempts)
		assert.Contains(t, report.Remedy, "the server ended")
		assert.Contains(t, toolNames(session), "lost_alpha")
		changes, states := heard.take()
		assert.Empty(t, changes)
		assert.Equal(t, []string{"lost failed"}, states)
		_, open := server.open()
		assert.Zero(t, open, "what is left of it is closed")

		pass(time.Minute)
		synctest.Wait()
		assert.NotContains(t, toolNames(session), "lost_alpha", "too old")
		changes, states = heard.take()
		assert.Equal(t, []vmcp.Change{{Tools: true, Prompts: true, Resources: true, ResourceTemplates: true}}, changes)
		assert.Empty(t, states)
		for _, do := range []func(context.Context, *vmcp.Session) (string, error){callTool("lost_alpha"), readResource("res://dies")} {
			var unavailable *vmcp.UnavailableError
			_, err = do(t.Context(), session)
			require.ErrorAs(t, err, &unavailable, "it is remembered whose it was")
			assert.Equal(t, "lost", unavailable.Backend.ID)
		}

		pass(2 * time.Hour)
		assert.Contains(t, toolNames(session), "lost_alpha")
		assert.True(t, reportOf(t, session.Report(), "lost").StaleSince.IsZero())
		text, err := callTool("lost_alpha")(t.Context(), session)
		require.NoError(t, err)
		assert.Equal(t, "dies", text)
		assert.ElementsMatch(t, []string{"good backend_ready", "lost backend_ready", "lost backend_failed", "lost backend_recovered"}, events(t, &log))
	})
}

func TestWhatALostConnectionStillSaysIsHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		backend, server := hook(t, "one", dies(), func(_ context.Context, method string) error {
			if method == "prompts/get" {
				<-release
				return transport.ErrTransportClosed
			}
			return nil
		})
		session := build(t, &vmcp.Builder{}, backend)
		late := make(chan error)
		go func() {
			_, err := getPrompt("one_greet")(t.Context(), session)
			late <- err
		}()
		synctest.Wait()
		_, err := session.CallTool(t.Context(), callOf("one_alpha"))
		require.ErrorIs(t, err, transport.ErrTransportClosed)
		pass(2 * time.Second)
		require.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		dialed, open := server.open()
		assert.Equal(t, []int{2, 2}, []int{dialed, open}, "a call in flight keeps the old one open")

		heard := listen(session)
		close(release)
		require.ErrorIs(t, <-late, transport.ErrTransportClosed)
		pass(time.Minute)
		_, states := heard.take()
		assert.Empty(t, states)
		dialed, open = server.open()
		assert.Equal(t, []int{2, 1}, []int{dialed, open})
		_, err = session.CallTool(t.Context(), callOf("one_alpha"))
		require.NoError(t, err)
	})
}

// A server that lives long enough to tell of a change must not be started again
// each second for ever.
func TestABackendThatFlapsIsTriedLessAndLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := dies()
		script.Answers["tools/call"] = []badserver.Answer{{Exit: true}}
		backend, _ := hook(t, "a", script, nil)
		session := build(t, &vmcp.Builder{}, backend)
		var waited time.Duration
		for range 8 {
			_, err := session.Refresh(t.Context(), "a")
			require.NoError(t, err)
			_, err = session.CallTool(t.Context(), callOf("a_alpha"))
			require.Error(t, err)
			began := time.Now()
			waited = session.Report().Backends[0].NextTry.Sub(began)
			pass(waited + time.Second)
			require.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		}
		assert.Greater(t, waited, 30*time.Second)

		pass(vmcp.DefaultRetryMax) // it was no flash in the pan
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.Error(t, err)
		assert.Less(t, time.Until(session.Report().Backends[0].NextTry), 2*time.Second)
	})
}
