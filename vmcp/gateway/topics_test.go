package gateway_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watched is a server whose resources one can subscribe to.
func watched(name string) badserver.Script {
	script := serving(name)
	script.Answers["resources/subscribe"] = []badserver.Answer{{}}
	script.Answers["resources/unsubscribe"] = []badserver.Answer{{}}
	return script
}

func updated(uri string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
}

var aboutOne = object{"uri": "res://one"}

// counts are how often a backend was asked to begin and to end a subscription.
func counts(server *badserver.Server) [2]int {
	return [2]int{server.Count("resources/subscribe"), server.Count("resources/unsubscribe")}
}

func TestConnectionsShareASubscription(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(watched("one")))
	backend := servers["one"]
	first, second, third := plug(t, g, plain), plug(t, g, plain), plug(t, g, plain)
	for _, p := range []*pipe{first, second, second} {
		require.Nil(t, p.ask("resources/subscribe", aboutOne).Error)
	}
	assert.Equal(t, [2]int{1, 0}, counts(backend))
	backend.Notify(updated("res://one"))
	for _, p := range []*pipe{first, second} {
		assert.JSONEq(t, `{"uri":"res://one"}`, string(p.until(mcp.MethodNotificationResourceUpdated).Params))
	}
	third.ask("ping", nil)
	assert.True(t, third.silent(), "it did not subscribe")

	require.Nil(t, third.ask("resources/unsubscribe", aboutOne).Error)
	require.Nil(t, first.ask("resources/unsubscribe", aboutOne).Error)
	assert.Equal(t, [2]int{1, 0}, counts(backend), "one still listens")
	backend.Notify(updated("res://one"))
	second.until(mcp.MethodNotificationResourceUpdated)
	first.ask("ping", nil)
	assert.True(t, first.silent())
	require.Nil(t, second.ask("resources/unsubscribe", aboutOne).Error)
	assert.Equal(t, [2]int{1, 1}, counts(backend))
	require.Nil(t, first.ask("resources/subscribe", aboutOne).Error)
	assert.Equal(t, [2]int{2, 1}, counts(backend))
}

func TestAConnectionThatEndsSubscribesToNothing(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(watched("one")))
	url := listen(t, g)
	first, second := reach(t, url, plain), reach(t, url, plain)
	require.Nil(t, first.ask("resources/subscribe", aboutOne).Error)
	require.Nil(t, second.ask("resources/subscribe", aboutOne).Error)
	first.leave()
	require.Nil(t, second.ask("ping", nil).Error)
	assert.Equal(t, [2]int{1, 0}, counts(servers["one"]))
	second.leave()
	require.NoError(t, servers["one"].Await(soon(t), "resources/unsubscribe", 1))
	assert.Equal(t, [2]int{1, 1}, counts(servers["one"]))
}

func TestAnOpenStreamCarriesWhatBelongsToNoRequest(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(watched("one")))
	w := reach(t, listen(t, g), plain)
	require.Nil(t, w.ask("resources/subscribe", aboutOne).Error)
	servers["one"].Notify(updated("res://one")) // before anybody listens
	events := w.listen()
	events.until(mcp.MethodNotificationResourceUpdated)
	servers["one"].Notify(updated("res://one"))
	events.until(mcp.MethodNotificationResourceUpdated)
}

// The backend need not answer for the client to be rid of its session.
func TestLeavingDoesNotWaitForABackend(t *testing.T) {
	t.Parallel()
	script := watched("one")
	script.Answers["resources/unsubscribe"] = []badserver.Answer{{Hang: true}}
	g, servers := before(t, one(script))
	w := reach(t, listen(t, g), plain)
	require.Nil(t, w.ask("resources/subscribe", aboutOne).Error)
	w.leave()
	require.NoError(t, servers["one"].Await(soon(t), "resources/unsubscribe", 1))
}

func TestAPartOfAResourceIsToldToWhoSubscribedToAllOfIt(t *testing.T) {
	t.Parallel()
	g, servers := before(t, one(watched("one")))
	p := plug(t, g, plain)
	require.Nil(t, p.ask("resources/subscribe", aboutOne).Error)
	servers["one"].Notify(updated("res://one-other"))
	servers["one"].Notify(updated("res://one/chapter"))
	assert.Contains(t, string(p.until(mcp.MethodNotificationResourceUpdated).Params), "res://one/chapter")
}

func TestASubscriptionThatIsRefusedIsNone(t *testing.T) {
	t.Parallel()
	script := watched("one")
	script.Answers["resources/subscribe"] = []badserver.Answer{badserver.Fail(-32050, "not today").Once(), {}}
	g, servers := before(t, map[string]badserver.Script{"one": script, "without": only(`{"resources":{}}`, serving("without"))})
	p := plug(t, g, plain)
	refused := p.ask("resources/subscribe", aboutOne).Error
	require.NotNil(t, refused)
	assert.Equal(t, `backend "one": not today`, refused.Message)
	require.Nil(t, p.ask("resources/subscribe", aboutOne).Error, "the next one is asked again")
	assert.Equal(t, [2]int{2, 0}, counts(servers["one"]))

	refused = p.ask("resources/subscribe", object{"uri": "res://without"}).Error
	require.NotNil(t, refused)
	assert.Equal(t, mcp.METHOD_NOT_FOUND, refused.Code)
	assert.Contains(t, refused.Message, `backend "without"`)
}

// Who subscribes while another's attempt is under way must not be told that all
// is well when that fails.
func TestConcurrentSubscriptionsFailTogether(t *testing.T) {
	t.Parallel()
	script := watched("one")
	script.Answers["resources/subscribe"] = []badserver.Answer{{Error: badserver.Fail(-32050, "no").Error, Delay: badserver.Duration(100 * time.Millisecond)}}
	g, _ := before(t, one(script))
	var subscribing sync.WaitGroup
	for range 4 {
		p := plug(t, g, plain)
		subscribing.Go(func() { assert.NotNil(t, p.ask("resources/subscribe", aboutOne).Error) })
	}
	subscribing.Wait()
}

func TestAModernClientListensToWhatItNames(t *testing.T) {
	t.Parallel()
	script := watched("one")
	script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("run").Once(), badserver.Tools("run", "new")}
	g, servers := before(t, map[string]badserver.Script{"one": script, "without": only(`{"resources":{}}`, serving("without"))})
	w := reach(t, listen(t, g), newest)
	wishes := object{"toolsListChanged": true, "resourceSubscriptions": []string{"res://one", "res://without", "res://nowhere"}}
	events := w.begin(t.Context(), "subscriptions/listen", object{"notifications": wishes})
	granted := events.until(mcp.MethodNotificationSubscriptionsAcknowledged)
	assert.Contains(t, string(granted.Params), `"resourceSubscriptions":["res://one"]`)
	assert.Contains(t, string(granted.Params), `"toolsListChanged":true`)
	second := w.begin(t.Context(), "subscriptions/listen", object{"notifications": object{"resourceSubscriptions": []string{"res://one"}}})
	second.until(mcp.MethodNotificationSubscriptionsAcknowledged)
	assert.Equal(t, [2]int{1, 0}, counts(servers["one"]))

	servers["one"].Notify(updated("res://one"))
	events.until(mcp.MethodNotificationResourceUpdated)
	second.until(mcp.MethodNotificationResourceUpdated)
	servers["one"].Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	events.until(mcp.MethodNotificationToolsListChanged)
	w.http.CloseIdleConnections()
	require.NoError(t, events.body.(interface{ Close() error }).Close())
	require.NoError(t, second.body.(interface{ Close() error }).Close())
	require.NoError(t, servers["one"].Await(soon(t), "resources/unsubscribe", 1))
	assert.Equal(t, [2]int{1, 1}, counts(servers["one"]))
}
