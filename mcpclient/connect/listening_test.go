package connect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eras are the protocols that both sides may settle on.
var eras = []string{legacy, modern}

// told collects what the server says, as long as there is room.
func told(c *mcpclient.Client) <-chan mcp.JSONRPCNotification {
	all := make(chan mcp.JSONRPCNotification, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) { all <- n })
	return all
}

func awaitMethod(t *testing.T, all <-chan mcp.JSONRPCNotification, method string) mcp.JSONRPCNotification {
	t.Helper()
	limit := soon(t)
	for {
		select {
		case n := <-all:
			if n.Method == method {
				return n
			}
		case <-limit.Done():
			require.FailNow(t, "it was not told", method)
		}
	}
}

// lively is a server of mcp-go that tells what changes.
func lively() *server.MCPServer {
	s := server.NewMCPServer("lively", "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
	s.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})
	s.AddResource(mcp.NewResource("res://one", "one"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, nil
	})
	return s
}

func TestWhatTheServerSaysUnaskedIsHeard(t *testing.T) {
	t.Parallel()
	targets := map[string]func(*testing.T, *server.MCPServer) connect.Target{
		"over HTTP": func(t *testing.T, s *server.MCPServer) connect.Target {
			return connect.HTTP{URL: listen(t, server.NewStreamableHTTPServer(s)).URL}
		},
		"in-process": func(_ *testing.T, s *server.MCPServer) connect.Target { return connect.InProcess{Server: s} },
	}
	for name, target := range targets {
		for _, era := range eras {
			t.Run(name+" on "+era, func(t *testing.T) {
				t.Parallel()
				s := lively()
				c, err := connect.To(target(t, s), connect.WithProtocolVersion(era), connect.WithListening()).Open(soon(t))
				require.NoError(t, err)
				defer func() { assert.NoError(t, c.Close()) }()
				all := told(c)
				until(t, func() {
					s.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
				}, all, mcp.MethodNotificationToolsListChanged)
			})
		}
	}
}

// until does it again until the server was heard: over HTTP the stream is
// opened beside the first calls.
func until(t *testing.T, do func(), all <-chan mcp.JSONRPCNotification, method string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		do()
		select {
		case n := <-all:
			assert.Equal(c, method, n.Method)
		default:
			assert.Fail(c, "nothing was said")
		}
	}, 20*time.Second, 10*time.Millisecond)
}

func TestWithoutTheOptionNobodyListens(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		s := badserver.New(listening(era))
		c, err := connect.Open(soon(t), connect.HTTP{URL: overHTTP(t, s).URL})
		require.NoError(t, err)
		toolsOf(t, c)
		require.NoError(t, c.Close())
		assert.Zero(t, s.Count("GET")+s.Count("subscriptions/listen"), era)
	}
}

// listening is a server that says that its list of tools may change.
func listening(era string) badserver.Script {
	script := honest(era)
	script.Capabilities = json.RawMessage(`{"tools":{"listChanged":true}}`)
	return script
}

func TestAServerThatDoesNotTellIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]*badserver.Answer{
		"not there": nil, "no page": plain(404), "forbidden": plain(403), "broken": plain(500), "a page": plain(200),
	} {
		for _, era := range eras {
			t.Run(name+" on "+era, func(t *testing.T) {
				t.Parallel()
				log := &mcptest.Journal{}
				script, method := listening(era), map[string]string{legacy: "GET", modern: "subscriptions/listen"}[era]
				if answer != nil {
					script.Answers[method] = []badserver.Answer{*answer}
				}
				s := badserver.New(script)
				c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithListening(), connect.WithLogger(log.Logger())).Open(soon(t))
				require.NoError(t, err)
				require.NoError(t, s.Await(soon(t), method, 1))
				require.EventuallyWithT(t, func(c *assert.CollectT) {
					assert.Equal(c, 1, log.Count(`"event":"listening"`))
				}, 20*time.Second, 10*time.Millisecond)
				toolsOf(t, c)
				require.NoError(t, c.Close())
				assert.Equal(t, 1, s.Count(method))
				assert.Zero(t, log.Count(`"level":"ERROR"`)+log.Count(`"level":"WARN"`))
			})
		}
	}
}

func plain(status int) *badserver.Answer {
	a := badserver.Plain(status, "no")
	return &a
}

func TestTheStreamIsOpenedOnceTheHandshakeIsOverAndInItsProtocol(t *testing.T) {
	t.Parallel()
	s := badserver.New(listening(legacy))
	c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL, Headers: map[string]string{"X-Key": "k"}}, connect.WithListening()).Open(soon(t))
	require.NoError(t, err)
	require.NoError(t, s.Await(soon(t), "GET", 1))
	require.NoError(t, c.Close())
	var order []string
	for _, request := range s.Requests() {
		order = append(order, request.Method)
		if request.Method == http.MethodGet {
			assert.Equal(t, legacy, request.Header.Get("Mcp-Protocol-Version"))
			assert.Equal(t, "k", request.Header.Get("X-Key"))
			assert.NotEmpty(t, request.Connection, "the session")
		}
	}
	assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "GET", "DELETE"}, order)
}

func TestAnOpenStreamDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			script := listening(era)
			script.Answers["GET"] = []badserver.Answer{{}}
			script.Answers["subscriptions/listen"] = []badserver.Answer{{SSE: true, Hang: true}}
			e := overHTTP(t, badserver.New(script))
			c, err := connect.To(connect.HTTP{URL: e.URL}, connect.WithListening()).Open(soon(t))
			require.NoError(t, err)
			require.NoError(t, c.Close())
			e.awaitClosed(t)
		})
	}
}

func TestTheStreamIsOpenedAgainWhenItEnds(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			acknowledged := json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}`)
			changed := json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			script, method := listening(era), map[string]string{legacy: "GET", modern: "subscriptions/listen"}[era]
			script.Answers[method] = []badserver.Answer{
				badserver.Answer{Cut: true, Before: []json.RawMessage{acknowledged}}.Once(),
				{Hang: true, Before: []json.RawMessage{acknowledged, changed}},
			}
			s := badserver.New(script)
			reopened := make(chan bool, 10)
			c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithListening(), connect.OnReopened(func() { reopened <- true })).Open(soon(t))
			require.NoError(t, err)
			defer func() { assert.NoError(t, c.Close()) }()
			awaitMethod(t, told(c), mcp.MethodNotificationToolsListChanged)
			assert.Equal(t, 2, s.Count(method))
			assert.Len(t, reopened, 1)
		})
	}
}

func TestASubscriptionOnTheNewestProtocolWaitsForTheServersWord(t *testing.T) {
	t.Parallel()
	grants := func(uris string) badserver.Answer {
		return badserver.Answer{Hang: true, Before: []json.RawMessage{json.RawMessage(
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":` + uris + `}}}`),
			json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"res://one"}}`)}}
	}
	for name, tt := range map[string]struct {
		answer badserver.Answer
		fails  error
	}{
		"granted":     {grants(`["res://one"]`), nil},
		"not granted": {grants(`[]`), mcp.ErrMethodNotFound},
		"refused":     {badserver.Fail(mcp.INVALID_PARAMS, "no"), mcp.ErrInvalidParams},
		"unknown":     {badserver.Fail(mcp.METHOD_NOT_FOUND, "no"), mcp.ErrMethodNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := honest(modern)
			script.Answers["subscriptions/listen"] = []badserver.Answer{tt.answer}
			s := badserver.New(script)
			c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithListening()).Open(soon(t))
			require.NoError(t, err)
			defer func() { assert.NoError(t, c.Close()) }()
			all := told(c)
			one := mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "res://one"}}
			if err := c.Subscribe(soon(t), one); tt.fails != nil {
				require.ErrorIs(t, err, tt.fails)
			} else {
				require.NoError(t, err)
				awaitMethod(t, all, mcp.MethodNotificationResourceUpdated)
				require.NoError(t, c.Subscribe(soon(t), one), "again")
				require.NoError(t, c.Unsubscribe(soon(t), mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: "res://one"}}))
			}
			assert.Equal(t, 1, s.Count("subscriptions/listen"))
		})
	}
}

// What was sent for one stream may arrive when the next is open already.
func TestTheAcknowledgementOfAnotherStreamSaysNothing(t *testing.T) {
	t.Parallel()
	script := honest(modern)
	script.Capabilities = json.RawMessage(`{"tools":{"listChanged":true}}`)
	acknowledgement := func(meta, uris string) json.RawMessage {
		return json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":` + meta + `,"notifications":{"resourceSubscriptions":` + uris + `}}}`)
	}
	script.Answers["subscriptions/listen"] = []badserver.Answer{{Hang: true, Times: 1}, {Hang: true, Before: []json.RawMessage{
		acknowledgement(`{"io.modelcontextprotocol/subscriptionId":1}`, `[]`), acknowledgement(`{}`, `["res://one"]`)}}}
	s := badserver.New(script)
	c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithListening()).Open(soon(t))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	require.NoError(t, s.Await(soon(t), "subscriptions/listen", 1))
	require.NoError(t, c.Subscribe(soon(t), mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "res://one"}}))
}

func TestConnectorsOfOneTargetShareWhatTheyLearn(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	first := connect.To(s)
	second := first.With(connect.WithClientInfo(mcp.Implementation{Name: "second", Version: "2"}))
	for _, connector := range []*connect.Connector{first, second} {
		c, err := connector.Open(soon(t))
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	assert.Equal(t, 1, s.Count("server/discover"))
	requests := s.Requests()
	assert.Contains(t, string(requests[1].Params), `"name":"candor"`, "the settings of one are not those of the other")
	assert.Contains(t, string(requests[3].Params), `"name":"second"`)
}

type samplingFunc func(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error)

func (f samplingFunc) CreateMessage(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return f(ctx, r)
}

func TestAHandlersErrorReachesTheServerWithItsCode(t *testing.T) {
	t.Parallel()
	asks := json.RawMessage(`{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	odd := json.RawMessage(`{"jsonrpc":"2.0","id":"q2","method":"odd/method"}`)
	script := honest(legacy)
	script.Answers["tools/call"] = []badserver.Answer{{Before: []json.RawMessage{asks, odd}, Hang: true}}
	s := badserver.New(script)
	refuse := samplingFunc(func(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return nil, fmt.Errorf("not me: %w", mcp.ErrInvalidParams)
	})
	c, err := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithClientOptions(client.WithSamplingHandler(refuse))).Open(soon(t))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	ctx, cancel := context.WithCancel(soon(t))
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, callOf("search"))
		ended <- err
	}()
	require.NoError(t, s.Await(soon(t), "", 2))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	codes := map[string]int{}
	for _, request := range s.Requests() {
		var answer struct {
			ID    string
			Error struct{ Code int }
		}
		if request.Method == "" && assert.NoError(t, json.Unmarshal(request.Message, &answer)) {
			codes[answer.ID] = answer.Error.Code
		}
	}
	assert.Equal(t, map[string]int{"q1": mcp.INVALID_PARAMS, "q2": mcp.METHOD_NOT_FOUND}, codes)
}

func TestOverSSENothingIsDeclaredThatNobodyWouldAnswer(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	never := samplingFunc(nil)
	c, err := connect.To(connect.SSE{URL: overSSE(t, s).URL + "/sse"}, connect.WithClientOptions(client.WithSamplingHandler(never))).Open(soon(t))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for _, request := range s.Requests() {
		assert.NotContains(t, string(request.Params), "sampling", request.Method)
	}
}

func TestAnAnswerLongerThanItMayBeIsAnError(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]connect.Target{
		"over HTTP":  connect.HTTP{URL: overHTTP(t, badserver.New(honest(legacy))).URL},
		"over stdio": newLeash(t).stdio(t, "server", honest(legacy)),
	} {
		for limit, enough := range map[int64]bool{100: false, 0: true, 10_000: true} {
			c, err := connect.To(target, connect.WithMaxBody(limit)).Open(soon(t))
			if !enough {
				require.ErrorContains(t, err, "more than 100 bytes", name)
				continue
			}
			require.NoError(t, err, name)
			require.NoError(t, c.Close())
		}
	}
}
