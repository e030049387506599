package vmcp_test

import (
	"context"
	"sync"
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

func ids(s *vmcp.Session) []string {
	var all []string
	for _, backend := range s.Report().Backends {
		all = append(all, backend.ID)
	}
	return all
}

func TestApplyTouchesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stays, stayed := hook(t, "stays", serving("stays"), nil)
		goes, gone := hook(t, "goes", serving("goes"), nil)
		changes, changed := hook(t, "changes", serving("changes"), nil)
		session := build(t, &vmcp.Builder{}, goes, stays, changes)
		heard := listen(session)
		comes, _ := hook(t, "comes", serving("comes"), nil)
		changes.CallTimeout = time.Minute

		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{comes, changes, stays}))
		synctest.Wait()
		assert.Equal(t, []string{"comes", "changes", "stays"}, ids(session), "in the new order")
		assert.Equal(t, []string{"changes_alpha", "changes_beta", "comes_alpha", "comes_beta", "stays_alpha", "stays_beta"}, toolNames(session))
		for name, c := range map[string]struct {
			on           *hooked
			dialed, open int
		}{"stays": {stayed, 1, 1}, "goes": {gone, 1, 0}, "changes": {changed, 2, 1}} {
			dialed, open := c.on.open()
			assert.Equal(t, []int{c.dialed, c.open}, []int{dialed, open}, name)
		}
		told, states := heard.take()
		assert.Equal(t, []vmcp.Change{{Tools: true, Prompts: true, Resources: true, ResourceTemplates: true}}, told)
		assert.ElementsMatch(t, []string{"comes ready", "changes ready"}, states)
		for _, name := range []string{"stays", "changes", "comes"} {
			text, err := callTool(name+"_alpha")(t.Context(), session)
			require.NoError(t, err)
			assert.Equal(t, name, text)
		}
		_, err := session.CallTool(t.Context(), callOf("goes_alpha"))
		var unknown *vmcp.UnknownError
		require.ErrorAs(t, err, &unknown)

		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{stays, comes, changes}))
		synctest.Wait()
		dialed, _ := changed.open()
		assert.Equal(t, 2, dialed, "another order changes no backend")
		assert.Equal(t, []string{"stays", "comes", "changes"}, ids(session))
	})
}

func TestApplyLetsCallsInFlightEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("goes")
		script.Answers["tools/call"][0].Delay = badserver.Duration(time.Minute)
		goes, server := hook(t, "goes", script, nil)
		stays, _ := hook(t, "stays", serving("stays"), nil)
		session := build(t, &vmcp.Builder{}, goes, stays)
		ended := make(chan error)
		go func() {
			_, err := callTool("goes_alpha")(t.Context(), session)
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{stays}))
		assert.Zero(t, time.Since(began))
		assert.Equal(t, []string{"stays_alpha", "stays_beta"}, toolNames(session))
		_, open := server.open()
		assert.Equal(t, 1, open)
		require.NoError(t, <-ended)
		synctest.Wait()
		_, open = server.open()
		assert.Zero(t, open)
	})
}

func TestApplyOfABackendThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, _ := hook(t, "good", serving("good"), nil)
		session := build(t, &vmcp.Builder{}, good)
		bad, _ := hook(t, "bad", with(`{"tools":{}}`, answers{"tools/list": {databaseDown.Once(), badserver.Tools("query")}}), nil)
		bad.Required = true
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{good, bad}))
		assert.Equal(t, []string{"bad"}, session.Report().Failed())
		pass(2 * time.Second)
		assert.Contains(t, toolNames(session), "bad_query")
	})
}

func TestApplyThatChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, open := hook(t, "good", serving("good"), nil)
		session := build(t, &vmcp.Builder{}, good)
		heard := listen(session)
		require.ErrorIs(t, session.Apply(t.Context(), nil), vmcp.ErrBackends)
		require.ErrorIs(t, session.Apply(t.Context(), []vmcp.Backend{good, good}), vmcp.ErrBackends)

		late, lately := hook(t, "late", slow(time.Hour), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, session.Apply(ctx, []vmcp.Backend{late}), context.DeadlineExceeded)
		pass(time.Second)
		_, still := lately.open()
		assert.Zero(t, still)
		assert.Equal(t, []string{"good"}, ids(session))
		dialed, _ := open.open()
		assert.Equal(t, 1, dialed)
		changes, states := heard.take()
		assert.Empty(t, changes)
		assert.Empty(t, states)

		require.NoError(t, session.Close())
		require.ErrorIs(t, session.Apply(t.Context(), []vmcp.Backend{late}), vmcp.ErrClosed)
	})
}

func TestApplyKeepsTheSoftDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, _ := hook(t, "good", serving("good"), nil)
		session := build(t, &vmcp.Builder{SoftDeadline: 5 * time.Second}, good)
		heard := listen(session)
		late, _ := hook(t, "late", slow(8*time.Second), nil)
		began := time.Now()
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{good, late}))
		assert.Equal(t, 5*time.Second, time.Since(began))
		pass(4 * time.Second)
		_, states := heard.take()
		assert.Equal(t, []string{"late connecting", "late ready"}, states)
		assert.Contains(t, toolNames(session), "late_late")
	})
}

func TestApplyOfAnotherConnector(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, before := hook(t, "one", serving("before"), nil)
		session := build(t, &vmcp.Builder{}, one)
		other, _ := hook(t, "one", serving("after"), nil)
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{other}))
		text, err := callTool("one_alpha")(t.Context(), session)
		require.NoError(t, err)
		assert.Equal(t, "after", text)
		synctest.Wait()
		_, open := before.open()
		assert.Zero(t, open)
	})
}

func TestErrorsAreMasked(t *testing.T) {
	t.Parallel()
	script := serving("one")
	script.Protocol = legacy
	for _, method := range []string{"tools/call", "prompts/get", "resources/read", "ping"} {
		script.Answers[method] = []badserver.Answer{badserver.Fail(mcp.INVALID_PARAMS, "the token "+planted+" has expired")}
	}
	script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("alpha").Once(), badserver.Plain(503, "no token "+planted)}
	target := overHTTP(t, badserver.New(script)).(connect.HTTP)
	target.Headers = map[string]string{"Authorization": "Bearer " + planted}
	session := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "one", Connector: connect.To(target)})
	for _, do := range []func(context.Context, *vmcp.Session) (string, error){
		callTool("one_alpha"), getPrompt("one_greet"), readResource("res://one"),
		func(ctx context.Context, s *vmcp.Session) (string, error) { return "", s.Probe(ctx, "one") },
	} {
		_, err := do(t.Context(), session)
		require.ErrorIs(t, err, mcp.ErrInvalidParams, "its type is still there")
		assert.Contains(t, err.Error(), "the token *** has expired")
		assert.NotContains(t, err.Error(), planted)
	}
	_, err := session.Refresh(t.Context(), "one")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), planted)
	assert.NotContains(t, session.Report().String(), planted)
}

// A reload of the configuration is nothing that callers notice.
func TestApplyCostsNoCall(t *testing.T) {
	t.Parallel()
	backend := scripted(t, "a", serving("a"))
	session := build(t, &vmcp.Builder{}, backend)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for _, do := range []func(context.Context, *vmcp.Session) (string, error){
		callTool("a_alpha"), callTool("a_beta"), readResource("res://a"), getPrompt("a_greet"),
	} {
		callers.Go(func() {
			for ctx.Err() == nil {
				_, err := do(t.Context(), session)
				if !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	for i := range 100 {
		backend.CallTimeout = time.Duration(i+1) * time.Minute
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{backend}))
	}
	stop()
	callers.Wait()
}

func TestApplyBesideClose(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			one, first := hook(t, "one", serving("one"), nil)
			two, second := hook(t, "two", slow(time.Second), nil)
			session := build(t, &vmcp.Builder{}, one)
			applied := make(chan error)
			go func() { applied <- session.Apply(t.Context(), []vmcp.Backend{two}) }()
			pass(time.Second)
			require.NoError(t, session.Close())
			if err := <-applied; err != nil {
				require.ErrorIs(t, err, vmcp.ErrClosed)
				assert.Equal(t, []string{"one"}, ids(session), "nothing has changed")
			}
			for _, server := range []*hooked{first, second} {
				_, open := server.open()
				assert.Zero(t, open)
			}
		})
	}
}

func TestApplyNoticesWhatWasChangedInPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, _ := hook(t, "a", serving("a"), nil)
		backend.Tools.Include = []string{"alpha"}
		session := build(t, &vmcp.Builder{}, backend)
		backend.Tools.Include[0] = "beta"
		assert.Equal(t, []string{"a_alpha"}, toolNames(session))
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{backend}))
		assert.Equal(t, []string{"a_beta"}, toolNames(session))
	})
}
