package vmcp_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheBreaker(t *testing.T) {
	t.Parallel()
	broken := func(err error) func(context.Context, string) error {
		return func(_ context.Context, method string) error {
			if method == "tools/call" {
				return err
			}
			return nil
		}
	}
	inner := errors.New("connection reset by peer")
	fine := badserver.Result(mcp.NewToolResultText("fine"))
	cases := []struct {
		name   string
		limit  int
		answer []badserver.Answer
		before func(context.Context, string) error
		calls  int // that are made
		open   bool
	}{
		{"five time-outs", 0, []badserver.Answer{hang}, nil, 5, true},
		{"four are not enough", 0, []badserver.Answer{hang}, nil, 4, false},
		{"as many as set", 2, []badserver.Answer{hang}, nil, 2, true},
		{"a broken transport", 0, nil, broken(inner), 5, true},
		{"a 503", 0, nil, broken(&wire.StatusError{StatusCode: 503}), 5, true},
		{"a 401", 0, nil, broken(&wire.StatusError{StatusCode: 401}), 5, true},
		{"a 400 is about the request", 0, nil, broken(&wire.StatusError{StatusCode: 400}), 20, false},
		{"an answer that is too long", 0, nil, broken(&wire.BodyTooLargeError{Limit: 1}), 20, false},
		{"a success begins anew", 0, []badserver.Answer{{Hang: true, Times: 4}, fine.Once(), {Hang: true, Times: 4}, fine}, nil, 10, false},
		{"so does a JSON-RPC error", 0, []badserver.Answer{{Hang: true, Times: 4}, databaseDown.Once(), {Hang: true, Times: 4}, fine}, nil, 10, false},
		{"JSON-RPC errors", 0, []badserver.Answer{databaseDown}, nil, 20, false},
		{"results with isError", 0, []badserver.Answer{badserver.Result(mcp.NewToolResultError("no"))}, nil, 20, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := serving("one")
				script.Answers["tools/call"] = c.answer
				backend, _ := hook(t, "one", script, c.before)
				backend.CallTimeout, backend.Breaker.Failures = time.Second, c.limit
				session := build(t, &vmcp.Builder{CallTimeout: time.Hour}, backend)
				for range c.calls {
					_, _ = session.CallTool(t.Context(), callOf("one_alpha"))
					require.Less(t, time.Since(began(session)), time.Minute, "the backend's own time-out holds")
				}
				if !c.open {
					assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
					return
				}
				report := session.Report().Backends[0]
				assert.Equal(t, vmcp.Failed, report.State)
				assert.Contains(t, report.Reason, "requests in a row were not answered, the last: ")
				var unavailable *vmcp.UnavailableError
				_, err := session.CallTool(t.Context(), callOf("one_alpha"))
				require.ErrorAs(t, err, &unavailable)
				pass(2 * time.Minute) // what somebody has to mend is tried again late
				assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State, "it answers its lists")
			})
		})
	}
}

func began(s *vmcp.Session) time.Time { return s.Report().Backends[0].Since }

func TestWhatACallerGivesUpIsNoFailureOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("one")
		script.Answers["tools/call"] = []badserver.Answer{hang}
		backend, _ := hook(t, "one", script, nil)
		session := build(t, &vmcp.Builder{}, backend)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := session.CallTool(ctx, callOf("one_alpha"))
			require.ErrorIs(t, err, context.Canceled)
		}
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
	})
}

func TestASilentBackendIsProbed(t *testing.T) {
	t.Parallel()
	probing := func(t *testing.T, script badserver.Script) (*vmcp.Session, *hooked) {
		t.Helper()
		backend, server := hook(t, "one", script, nil)
		backend.Timeout, backend.Retry.Initial, backend.Retry.Max = time.Second, time.Hour, time.Hour
		return build(t, &vmcp.Builder{ProbeEvery: 10 * time.Second}, backend), server
	}
	t.Run("only while it is silent", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			session, server := probing(t, serving("one"))
			for range 10 {
				pass(7 * time.Second)
				_, err := session.CallTool(t.Context(), callOf("one_alpha"))
				require.NoError(t, err)
			}
			assert.Zero(t, server.Count("ping"))
			pass(35 * time.Second)
			assert.Equal(t, 3, server.Count("ping"))
		})
	})
	t.Run("-32601 is an answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			session, _ := probing(t, answering("ping", badserver.Fail(mcp.METHOD_NOT_FOUND, missing)))
			pass(time.Hour)
			assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		})
	})
	t.Run("none is a failure that counts", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			session, server := probing(t, answering("ping", hang))
			heard := listen(session)
			pass(2 * time.Minute)
			assert.Equal(t, 5, server.Count("ping"))
			_, states := heard.take()
			assert.Equal(t, []string{"one failed"}, states)
			assert.Contains(t, session.Report().Backends[0].Reason, "5 requests in a row")
		})
	})
	t.Run("a process that has ended is noticed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			session, _ := probing(t, answering("ping", badserver.Answer{Exit: true}))
			pass(11 * time.Second)
			assert.Equal(t, vmcp.Failed, session.Report().Backends[0].State)
		})
	})
}

func TestACallWhoseTimeIsOverBeforeItBeganIsNoFailureOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "one", serving("one"), nil)
		session := build(t, &vmcp.Builder{}, backend)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		for range 20 {
			_, err := session.CallTool(ctx, callOf("one_alpha"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, `backend "one"`)
		}
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		assert.Zero(t, server.Count("tools/call"))
	})
}
