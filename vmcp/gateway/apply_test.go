package gateway_test

import (
	"context"
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

func three() map[string]badserver.Script {
	return map[string]badserver.Script{"one": watched("one"), "two": watched("two"), "three": watched("three")}
}

func TestAReloadReachesAllSessions(t *testing.T) {
	t.Parallel()
	backends, servers := backendsOf(three(), "one", "two", "three")
	g := over(t, &patient, backends[:2])
	his, other := plug(t, g, plain), plug(t, g, who{protocol: legacy, can: everything})
	require.NoError(t, g.Apply(t.Context(), backends[1:]))
	for _, p := range []*pipe{his, other} {
		p.until(mcp.MethodNotificationToolsListChanged)
		assert.Equal(t, []string{"three_run", "three_stop", "two_run", "two_stop"}, list(t, p.ask("tools/list", nil)).tools())
		assert.Equal(t, "three", p.call("three_run").text(t))
		require.NotNil(t, p.call("one_run").Error)
	}
	assert.Equal(t, 2, builds(servers["two"]), "what is the same is not touched")
	third := plug(t, g, who{protocol: legacy, can: object{"roots": object{}}})
	assert.Equal(t, "three", third.call("three_run").text(t), "and so for whoever comes")
	assert.Equal(t, 2, builds(servers["one"]))
}

func TestBackendsThatAreInvalidChangeNothing(t *testing.T) {
	t.Parallel()
	backends, _ := backendsOf(three(), "one", "two")
	g := over(t, &patient, backends)
	require.ErrorIs(t, g.Apply(t.Context(), nil), vmcp.ErrBackends)
	require.ErrorIs(t, g.Apply(t.Context(), append(backends, vmcp.Backend{ID: "one"})), vmcp.ErrBackends)
	assert.Equal(t, "two", plug(t, g, plain).call("two_run").text(t))
}

func TestAReloadWaitsForSessionsThatAreBeingBuilt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scripts := three()
		scripts["one"] = late("one", 3*time.Second)
		backends, _ := backendsOf(scripts, "one", "two", "three")
		g := over(t, &patient, backends[:2])
		checked := make(chan error)
		go func() {
			_, err := g.Check(context.Background())
			checked <- err
		}()
		<-time.After(time.Second)
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, g.Apply(hurried, backends[:1]), context.DeadlineExceeded)
		require.NoError(t, g.Apply(t.Context(), backends[2:]))
		require.NoError(t, <-checked)
		assert.Equal(t, []string{"three_run", "three_stop"}, list(t, plug(t, g, plain).ask("tools/list", nil)).tools())
	})
}

// With the soft deadline of many sessions one after the other nobody would call
// it a reload.
func TestSessionsAreReloadedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scripts := three()
		scripts["two"] = late("two", time.Hour)
		backends, _ := backendsOf(scripts, "one", "two")
		g := over(t, &patient, backends[:1], func(o *gateway.Options) { o.Idle = time.Hour })
		for _, can := range []object{{}, {"roots": object{}}, {"sampling": object{}}, everything} {
			plug(t, g, who{protocol: modern, can: can})
		}
		began := time.Now()
		require.NoError(t, g.Apply(t.Context(), backends))
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestASubscriptionSurvivesTheReloadOfItsBackend(t *testing.T) {
	t.Parallel()
	backends, servers := backendsOf(three(), "one")
	g := over(t, &patient, backends)
	p := plug(t, g, plain)
	require.Nil(t, p.ask("resources/subscribe", aboutOne).Error)
	changed := backends[0]
	changed.CallTimeout = time.Minute
	require.NoError(t, g.Apply(t.Context(), []vmcp.Backend{changed}))
	assert.Equal(t, [2]int{2, 0}, counts(servers["one"]))
	servers["one"].Notify(updated("res://one"))
	p.until(mcp.MethodNotificationResourceUpdated)
	require.Nil(t, p.ask("resources/unsubscribe", aboutOne).Error)
	assert.Equal(t, [2]int{2, 1}, counts(servers["one"]))
}
