package vmcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

func TestBuildRefusesBackendsThatCannotBe(t *testing.T) {
	t.Parallel()
	to := connect.To(badserver.New(honest()))
	named := func(ids ...string) []vmcp.Backend {
		var backends []vmcp.Backend
		for _, id := range ids {
			backends = append(backends, vmcp.Backend{ID: id, Connector: to})
		}
		return backends
	}
	cases := []struct {
		name     string
		backends []vmcp.Backend
		says     string
	}{
		{"none", nil, "name at least one"},
		{"an empty ID", named(""), `the ID ""`},
		{"33 characters", named(strings.Repeat("a", 33)), "at most 32"},
		{"a dash first", named("-a"), `"-a"`},
		{"a dot", named("a.b"), `"a.b"`},
		{"a space", named("a b"), `"a b"`},
		{"a line break at the end", named("a\n"), `"a\n"`},
		{"a letter that is not ASCII", named("ä"), `"ä"`},
		{"the same ID twice", named("a", "b", "a"), `"a" stands twice`},
		{"no connector", []vmcp.Backend{{ID: "a"}}, `"a" has no connector`},
		{"a connector to nothing", []vmcp.Backend{{ID: "a", Connector: connect.To(nil)}}, `"a" has no connector`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			session, err := new(vmcp.Builder).Build(t.Context(), c.backends)
			assert.Nil(t, session)
			require.ErrorIs(t, err, vmcp.ErrBackends)
			assert.Contains(t, err.Error(), c.says)

			audits, err := new(vmcp.Builder).Audit(t.Context(), c.backends)
			assert.Nil(t, audits)
			require.ErrorIs(t, err, vmcp.ErrBackends)
		})
	}
	t.Run("32 characters, digits, dashes and underscores are fine", func(t *testing.T) {
		t.Parallel()
		build(t, &vmcp.Builder{}, named("a", "A", "0-_", strings.Repeat("z", 32))...)
	})
}

func TestOneFailureCostsNobodyElsesTools(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		bad, _ := l.serve(t, "bad", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "the database is down")))
		dead, server := l.serve(t, "dead", honest())
		require.NoError(t, server.Close())
		good, _ := l.serve(t, "good", honest())
		session := build(t, &vmcp.Builder{}, bad, dead, good)

		assert.Equal(t, []string{"good_alpha", "good_beta"}, toolNames(session))
		assert.Equal(t, []string{"bad", "dead"}, session.Report().Failed())
		assert.Contains(t, reportOf(t, session.Report(), "bad").Reason, "the database is down")
	})
}

func TestARequiredBackendThatFailsFailsTheBuild(t *testing.T) {
	t.Parallel()
	good, open := hook(t, "good", honest(), nil)
	optional, _ := hook(t, "optional", answering("tools/list", badserver.Fail(mcp.INVALID_PARAMS, "optional is broken")), nil)
	required, alsoOpen := hook(t, "required", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "required is broken")), nil)
	required.Required = true
	failed := buildError(t, &vmcp.Builder{}, good, optional, required)

	require.ErrorIs(t, failed, mcp.ErrInternalError)
	require.ErrorIs(t, failed, mcp.ErrInvalidParams, "the causes are all failures, not only the required ones")
	assert.Contains(t, failed.Error(), `backend "required" failed`)
	assert.Contains(t, failed.Error(), "required is broken")
	assert.NotContains(t, failed.Error(), `"good"`)
	assert.Equal(t, []string{"optional", "required"}, failed.Report.Failed())
	assert.Equal(t, 2, reportOf(t, failed.Report, "good").Tools)
	for _, server := range []*hooked{open, alsoOpen} {
		dialed, still := server.open()
		assert.Equal(t, 1, dialed)
		assert.Zero(t, still, "a connection was left open")
	}

	t.Run("one that is fine does not", func(t *testing.T) {
		t.Parallel()
		good, _ := hook(t, "good", honest(), nil)
		good.Required = true
		bad, _ := hook(t, "bad", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "")), nil)
		build(t, &vmcp.Builder{}, good, bad)
	})
}

func TestAllBackendsFailing(t *testing.T) {
	t.Parallel()
	one, first := hook(t, "one", answering("prompts/list", badserver.Fail(mcp.INVALID_REQUEST, "first")), nil)
	two, second := hook(t, "two", answering("tools/list", badserver.Answer{Cut: true}), nil)
	failed := buildError(t, &vmcp.Builder{}, one, two)

	require.ErrorIs(t, failed, mcp.ErrInvalidRequest)
	require.ErrorIs(t, failed, io.ErrUnexpectedEOF)
	var opening *connect.Error
	require.ErrorAs(t, failed, &opening)
	assert.Contains(t, failed.Error(), `backend "one" failed`)
	assert.Contains(t, failed.Error(), `backend "two" failed`)
	for _, server := range []*hooked{first, second} {
		dialed, still := server.open()
		assert.Equal(t, 1, dialed)
		assert.Zero(t, still, "a connection was left open")
	}
}

func TestTheListsOfABackendAreAskedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var arrived sync.WaitGroup
		arrived.Add(len(lists))
		all := make(chan struct{})
		go func() { arrived.Wait(); close(all) }()
		backend, _ := hook(t, "one", honest(), func(ctx context.Context, method string) error {
			if !strings.HasSuffix(method, "/list") {
				return nil
			}
			arrived.Done()
			select {
			case <-all:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		began := time.Now()
		session := build(t, &vmcp.Builder{}, backend)
		assert.Zero(t, time.Since(began))
		assert.Len(t, session.Tools(), 2)
		assert.Len(t, session.Prompts(), 1)
		assert.Len(t, session.Resources(), 1)
		assert.Len(t, session.ResourceTemplates(), 1)
	})
}

func TestBackendsAreConnectedToSideBySideAndBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, want int }{{1, 1}, {3, 3}, {0, 64}, {-1, 64}} {
		t.Run(fmt.Sprintf("Concurrency %d: %d at a time", c.setting, c.want), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var waiting, arrived atomic.Int64
				leave := make(chan struct{})
				backends := make([]vmcp.Backend, c.want+2)
				for i := range backends {
					backends[i], _ = hook(t, fmt.Sprintf("b%d", i), onlyTools("run"), func(_ context.Context, method string) error {
						if method == "tools/list" {
							arrived.Add(1)
							waiting.Add(1)
							<-leave
							waiting.Add(-1)
						}
						return nil
					})
				}
				built := make(chan error)
				go func() {
					session, err := (&vmcp.Builder{Concurrency: c.setting}).Build(t.Context(), backends)
					built <- errors.Join(err, session.Close())
				}()
				synctest.Wait()
				assert.EqualValues(t, c.want, waiting.Load())
				leave <- struct{}{}
				synctest.Wait()
				assert.EqualValues(t, c.want, waiting.Load(), "the next takes the free place")
				assert.EqualValues(t, c.want+1, arrived.Load())
				close(leave)
				require.NoError(t, <-built)
				assert.EqualValues(t, c.want+2, arrived.Load())
			})
		})
	}
}

func TestTimeoutBoundsEachBackend(t *testing.T) {
	t.Parallel()
	hangs := func(method string) badserver.Script {
		return answering(method, badserver.Answer{Hang: true})
	}
	cases := []struct {
		name    string
		script  badserver.Script
		builder vmcp.Builder
		want    time.Duration
	}{
		{"lists, 30 s by default", hangs("tools/list"), vmcp.Builder{}, 30 * time.Second},
		{"a negative one is the default", hangs("tools/list"), vmcp.Builder{Timeout: -time.Second}, 30 * time.Second},
		{"lists, as set", hangs("prompts/list"), vmcp.Builder{Timeout: 7 * time.Second}, 7 * time.Second},
		{"the handshake too", hangs("initialize"), vmcp.Builder{Timeout: 3 * time.Second}, 3 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bad, server := hook(t, "bad", c.script, nil)
				good, _ := hook(t, "good", honest(), nil)
				began := time.Now()
				session := build(t, &c.builder, bad, good)
				assert.Equal(t, c.want, time.Since(began))

				failed := reportOf(t, session.Report(), "bad")
				require.ErrorIs(t, failed.Err, context.DeadlineExceeded)
				assert.Contains(t, failed.Remedy, "did not answer in time")
				assert.Equal(t, began.Add(c.want), failed.Since)
				assert.Equal(t, began, reportOf(t, session.Report(), "good").Since)
				assert.Len(t, session.Tools(), 2)
				_, still := server.open()
				assert.Zero(t, still)
			})
		})
	}
}

func TestASessionOutlivesTheContextItWasBuiltWith(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := onlyTools("run")
		script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText("done"))}
		backend, _ := l.serve(t, "one", script)
		ctx, cancel := context.WithCancel(t.Context())
		session, err := new(vmcp.Builder).Build(ctx, []vmcp.Backend{backend})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, session.Close()) })
		cancel()
		result, err := session.CallTool(t.Context(), callOf("one_run"))
		require.NoError(t, err)
		assert.Equal(t, "done", textOf(t, result))
	})
}

func TestACancelledBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, first := hook(t, "good", honest(), nil)
		slow, second := hook(t, "slow", answering("tools/list", badserver.Answer{Hang: true}), nil)
		slow.Required = true
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		session, err := new(vmcp.Builder).Build(ctx, []vmcp.Backend{good, slow})
		assert.Nil(t, session)
		require.ErrorIs(t, err, context.Canceled)
		for _, server := range []*hooked{first, second} {
			_, still := server.open()
			assert.Zero(t, still)
		}
	})
}

// A server of this kind answers server/discover and then refuses every request
// in the protocol that it agreed to.
func TestAServerThatAgreesToAProtocolAndRefusesIt(t *testing.T) {
	t.Parallel()
	discovered := badserver.Result(map[string]any{
		"resultType": "complete", "supportedVersions": []string{modern, legacy},
		"capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}, "prompts": map[string]any{}},
		"ttlMs":        0, "cacheScope": "private",
	})
	refuses := func() badserver.Script {
		script := honest()
		script.Protocol = legacy
		script.Answers["server/discover"] = []badserver.Answer{discovered}
		for _, method := range lists {
			refusal := badserver.Unsupported()
			refusal.Protocol = modern
			script.Answers[method] = append([]badserver.Answer{refusal}, script.Answers[method]...)
		}
		return script
	}
	t.Run("falls back, with no request more than the lists, and counts its contributions once", func(t *testing.T) {
		t.Parallel()
		for _, l := range []link{links[0], links[2]} {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				backend, server := l.serve(t, "one", refuses())
				session := build(t, &vmcp.Builder{}, backend)

				report := session.Report().Backends[0]
				assert.Equal(t, vmcp.Ready, report.State)
				assert.Equal(t, legacy, report.ProtocolVersion)
				assert.Equal(t, []int{2, 1, 1, 1}, []int{report.Tools, report.Resources, report.ResourceTemplates, report.Prompts})
				assert.Equal(t, []string{"one_alpha", "one_beta"}, toolNames(session))
				assert.Equal(t, []string{"one_greet"}, promptNames(session))
				assert.Equal(t, []string{"res://one"}, uris(session))

				methods := []string{"server/discover", "initialize", "notifications/initialized"}
				for _, method := range lists {
					// The first refusal cancels the lists beside it, which may
					// or may not have been sent by then.
					count := server.Count(method)
					assert.Contains(t, []int{1, 2}, count, method)
					for range count {
						methods = append(methods, method)
					}
				}
				sent := slices.DeleteFunc(asked(server), func(method string) bool { return method == "notifications/cancelled" })
				assert.ElementsMatch(t, methods, sent)
			})
		}
	})
	t.Run("what is forgiven on the second connection is reported once", func(t *testing.T) {
		t.Parallel()
		script := refuses()
		script.Answers["prompts/list"] = []badserver.Answer{script.Answers["prompts/list"][0], badserver.Fail(mcp.METHOD_NOT_FOUND, missing)}
		backend, _ := links[2].serve(t, "one", script)
		report := build(t, &vmcp.Builder{}, backend).Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Len(t, report.Contradictions, 1)
	})
	t.Run("a contradiction of the connection that was given up is forgotten", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			script := refuses()
			for _, method := range lists {
				script.Answers[method][0].Delay = badserver.Duration(time.Second) // prompts/list comes first
			}
			contradicting := badserver.Fail(mcp.METHOD_NOT_FOUND, missing)
			contradicting.Protocol = modern
			script.Answers["prompts/list"][0] = contradicting
			backend, _ := hook(t, "one", script, nil)
			session := build(t, &vmcp.Builder{}, backend)
			assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
			assert.Equal(t, []string{"one_greet"}, promptNames(session))
		})
	})
}
