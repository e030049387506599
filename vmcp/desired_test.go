package vmcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
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

// telling is a server that logs and has resources to subscribe to, whose process
// ends with the first call of a tool.
func telling() badserver.Script {
	script := dies()
	script.Protocol = legacy
	script.Capabilities = json.RawMessage(`{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{}}`)
	script.Answers["resources/list"] = []badserver.Answer{badserver.Resources("res://one", "res://two")}
	for _, method := range []string{"logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		script.Answers[method] = []badserver.Answer{{}}
	}
	return script
}

// set returns what a server was told of levels and subscriptions, in order.
func set(s *badserver.Server) []string {
	said := []string{}
	for _, request := range s.Requests() {
		var params struct{ Level, URI string }
		if strings.HasPrefix(request.Method, "logging/") || strings.HasPrefix(request.Method, "resources/") && strings.HasSuffix(request.Method, "subscribe") {
			_ = json.Unmarshal(request.Params, &params)
			said = append(said, request.Method[strings.Index(request.Method, "/")+1:]+" "+params.Level+params.URI)
		}
	}
	return said
}

func TestABackendThatComesBackIsToldOfLevelAndSubscriptionsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "a", telling(), nil)
		session := build(t, &vmcp.Builder{}, backend)
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelError))
		for _, uri := range []string{"res://one", "res://two"} {
			require.NoError(t, session.Subscribe(t.Context(), uri))
		}
		require.NoError(t, session.Unsubscribe(t.Context(), "res://two"))
		before := set(server.Server)
		assert.Equal(t, []string{"setLevel error", "subscribe res://one", "subscribe res://two", "unsubscribe res://two"}, before)
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.Error(t, err)
		pass(2 * time.Second)
		require.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		assert.Equal(t, []string{"setLevel error", "subscribe res://one"}, set(server.Server)[len(before):], "what still holds, once")
		pass(time.Minute)
		assert.Len(t, set(server.Server), len(before)+2)
	})
}

func TestWhatIsSetWhileABackendConnectsReachesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Pointer[chan struct{}]
		backend, server := hook(t, "a", telling(), func(_ context.Context, method string) error {
			if hold := held.Load(); hold != nil && method == "resources/subscribe" {
				<-*hold
			}
			return nil
		})
		session := build(t, &vmcp.Builder{}, backend)
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelInfo))
		require.NoError(t, session.Subscribe(t.Context(), "res://one"))
		hold := make(chan struct{})
		held.Store(&hold)
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.Error(t, err)
		pass(2 * time.Second)
		require.Equal(t, vmcp.Failed, session.Report().Backends[0].State, "it is being told of the subscription")
		before := len(set(server.Server))
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelError))
		require.NoError(t, session.Unsubscribe(t.Context(), "res://one"))
		close(hold)
		pass(time.Second)
		assert.Equal(t, []string{"subscribe res://one", "setLevel error", "unsubscribe res://one"}, set(server.Server)[before:])
	})
}

func TestWhatIsSetDuringAReloadReachesTheNewBackend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, _ := hook(t, "a", telling(), nil)
		session := build(t, &vmcp.Builder{}, old)
		hold := make(chan struct{})
		script := telling()
		script.Answers["prompts/list"][0].Delay = badserver.Duration(time.Second)
		backend, server := hook(t, "a", script, func(_ context.Context, method string) error {
			if method == "logging/setLevel" {
				<-hold
			}
			return nil
		})
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelInfo))
		applied := make(chan error)
		go func() { applied <- session.Apply(t.Context(), []vmcp.Backend{backend}) }()
		pass(2 * time.Second)
		require.NoError(t, session.Subscribe(t.Context(), "res://one"))
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelError))
		close(hold)
		require.NoError(t, <-applied)
		pass(time.Second)
		assert.Equal(t, []string{"setLevel info", "setLevel error", "subscribe res://one"}, set(server.Server))
		require.NoError(t, session.Unsubscribe(t.Context(), "res://one"))
	})
}

func TestASubscriptionGoesWithABackendThatLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "a", telling(), nil)
		other, _ := hook(t, "b", serving("b"), nil)
		session := build(t, &vmcp.Builder{}, backend, other)
		require.NoError(t, session.Subscribe(t.Context(), "res://one"))
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{other}))
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{backend, other}))
		pass(time.Second)
		assert.Equal(t, []string{"subscribe res://one"}, set(server.Server))
	})
}

func TestABackendThatDoesNotTakeTheLevelAgainIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := telling()
		script.Answers["logging/setLevel"] = []badserver.Answer{badserver.Answer{}.Once(), badserver.Fail(mcp.INTERNAL_ERROR, "not today")}
		backend, server := hook(t, "a", script, nil)
		var log mcptest.Journal
		session := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)
		require.NoError(t, session.SetLevel(t.Context(), mcp.LoggingLevelInfo))
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.Error(t, err)
		pass(time.Hour)
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		assert.Equal(t, 2, server.Count("logging/setLevel"), "it is not asked for ever")
		assert.Contains(t, log.String(), `"event":"restore_failed"`)
		assert.Contains(t, log.String(), "not today")
	})
}
