package vmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// curious is a server of mcp-go that asks its caller for all that there is.
func curious() *server.MCPServer {
	s := server.NewMCPServer("curious", "1", server.WithToolCapabilities(true), server.WithElicitation(), server.WithRoots())
	s.EnableSampling()
	s.AddTool(mcp.NewTool("sample"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 1}})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(result.Model), nil
	})
	s.AddTool(mcp.NewTool("elicit"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: "who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(fmt.Sprint(result.Content)), nil
	})
	s.AddTool(mcp.NewTool("roots"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.RequestRoots(ctx, mcp.ListRootsRequest{})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(result.Roots[0].URI), nil
	})
	return s
}

// needy is a server of mcp-go that asks for all of it the newest way.
func needy() *server.MCPServer {
	s := server.NewMCPServer("needy", "1", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("ask"), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(request.Params.InputResponses) == 0 {
			asked := mcp.NewInputRequiredResult(mcp.InputRequests{
				"sample": mcp.NewSamplingInputRequest(mcp.CreateMessageParams{MaxTokens: 1}),
				"elicit": mcp.NewElicitationInputRequest(mcp.ElicitationParams{Message: "who?", RequestedSchema: map[string]any{"type": "object"}}),
				"roots":  mcp.NewRootsInputRequest(),
			}, "state")
			return &mcp.CallToolResult{Result: asked.Result, MultiRoundTripResult: asked.MultiRoundTripResult}, nil
		}
		said, err := json.Marshal(request.Params.InputResponses)
		return mcp.NewToolResultText(string(said)), err
	})
	return s
}

func TestWhatABackendAsksTheNewestWayReachesTheOneWhoseCallItIs(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(server.NewStreamableHTTPServer(needy()))
	t.Cleanup(endpoint.Close)
	for name, target := range map[string]connect.Target{"over HTTP": connect.HTTP{URL: endpoint.URL + "/mcp"}, "in-process": connect.InProcess{Server: needy()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, &vmcp.Builder{Asks: anything}, vmcp.Backend{ID: "a", Connector: connect.To(target, connect.WithProtocolVersion(modern))})
			var calling sync.WaitGroup
			for i := range 8 {
				calling.Go(func() {
					me := &person{name: fmt.Sprint("person", i)}
					result, err := s.CallTool(me.calling(t), callOf("a_ask"))
					if assert.NoError(t, err) {
						said := textOf(t, result)
						for _, mine := range []string{"model of " + me.name, `"name":"` + me.name + `"}`, "file:///home/" + me.name} {
							assert.Contains(t, said, mine)
						}
					}
				})
			}
			calling.Wait()
			_, err := s.CallTool(t.Context(), callOf("a_ask"))
			require.ErrorIs(t, err, vmcp.ErrNoPeer, "nobody can answer")
		})
	}
}

// curiously are the ways to the curious server.
var curiously = map[string]func(*testing.T) connect.Target{
	"in-process": func(*testing.T) connect.Target { return connect.InProcess{Server: curious()} },
	"over HTTP": func(t *testing.T) connect.Target {
		endpoint := httptest.NewServer(server.NewStreamableHTTPServer(curious()))
		t.Cleanup(endpoint.Close)
		return connect.HTTP{URL: endpoint.URL + "/mcp"}
	},
}

func TestWhatABackendAsksReachesTheOneWhoseCallItIs(t *testing.T) {
	t.Parallel()
	for name, target := range curiously {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, &vmcp.Builder{Asks: anything}, vmcp.Backend{ID: "a", Connector: connect.To(target(t), connect.WithProtocolVersion(legacy))})
			calls := new(errgroup.Group)
			if name == "over HTTP" {
				calls.SetLimit(1) // mcp-go's server asks on the stream for all calls
			}
			for i := range 8 {
				calls.Go(func() error {
					me := &person{name: fmt.Sprint("person", i)}
					for _, tool := range []string{"a_sample", "a_elicit", "a_roots"} {
						result, err := s.CallTool(me.calling(t), callOf(tool))
						if assert.NoError(t, err, tool) {
							assert.Contains(t, textOf(t, result), me.name, tool)
						}
					}
					return nil
				})
			}
			require.NoError(t, calls.Wait())
		})
	}
}

// A server with one stream for all, as over stdio, does not say for which call
// it asks.
func TestAnUnknownCallMeansTheLastThatCanAnswer(t *testing.T) {
	t.Parallel()
	script := onlyTools("wait")
	script.Answers["tools/call"] = []badserver.Answer{{Hang: true}}
	script.Answers["GET"] = []badserver.Answer{{}}
	backend := badserver.New(script)
	s := build(t, &vmcp.Builder{Asks: vmcp.Asks{Roots: true}}, vmcp.Backend{ID: "a", Connector: connect.To(overHTTP(t, backend))})
	require.NoError(t, backend.Await(soon(t), "GET", 1))

	// ask puts a question, again and again as long as the stream is not open.
	ask := func(id string) (answer string) {
		t.Helper()
		require.Eventually(t, func() bool {
			backend.Notify(json.RawMessage(`{"jsonrpc":"2.0","id":"` + id + `","method":"roots/list"}`))
			for _, request := range backend.Requests() {
				if request.Method == "" && string(request.ID) == `"`+id+`"` {
					answer = string(request.Message)
				}
			}
			return answer != ""
		}, 20*time.Second, 10*time.Millisecond)
		return answer
	}
	idle := ask("idle")
	assert.Contains(t, idle, `"code":-32601`)
	assert.Contains(t, idle, `no caller who could answer roots/list is calling backend \"a\"`)

	calls, stop := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	for i, peer := range []vmcp.Peer{(&person{name: "ann"}).peer(), (&person{name: "bob"}).peer(), {}} {
		calling.Go(func() {
			_, err := s.CallTool(vmcp.WithPeer(calls, peer), callOf("a_wait"))
			assert.ErrorIs(t, err, context.Canceled)
		})
		require.NoError(t, backend.Await(soon(t), "tools/call", i+1))
	}
	assert.Contains(t, ask("busy"), "file:///home/bob", "the last who can")
	stop()
	calling.Wait()
	assert.Contains(t, ask("idle again"), `"code":-32601`, "nobody is calling any more")
}

func TestOnlyWhatMayBeAskedIsDeclared(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		for name, tt := range map[string]struct {
			asks vmcp.Asks
			says []string
		}{
			"nothing": {vmcp.Asks{}, nil}, "sampling": {vmcp.Asks{Sampling: true}, []string{"sampling"}},
			"all": {anything, []string{"sampling", "elicitation", "roots"}},
		} {
			script := onlyTools("run")
			script.Protocol = protocol
			backend := badserver.New(script)
			build(t, &vmcp.Builder{Asks: tt.asks}, vmcp.Backend{ID: "a", Connector: connect.To(inProcess(t, backend))})
			requests := backend.Requests()
			said := string(requests[1].Params)
			for _, capability := range []string{"sampling", "elicitation", "roots"} {
				if contains(tt.says, capability) {
					assert.Contains(t, said, `"`+capability+`":`, name, protocol)
				} else {
					assert.NotContains(t, said, `"`+capability+`":`, name, protocol)
				}
			}
		}
	}
}

func contains(all []string, one string) bool {
	for _, each := range all {
		if each == one {
			return true
		}
	}
	return false
}

func progressOf(token string, step int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%q,"progress":%d}}`, token, step))
}

func TestProgressGoesToItsCallWithItsOwnToken(t *testing.T) {
	t.Parallel()
	for _, w := range links {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			script := onlyTools("run")
			script.Protocol = w.protocol
			// The first call gets the first token.
			script.Answers["tools/call"] = []badserver.Answer{
				{Before: []json.RawMessage{progressOf("vmcp-1", 1), progressOf("vmcp-1", 2), progressOf("elsewhere", 7)}, Times: 1, Result: json.RawMessage(`{"content":[]}`)},
				{Before: []json.RawMessage{progressOf("vmcp-1", 3)}, Result: json.RawMessage(`{"content":[]}`)},
			}
			backend := badserver.New(script)
			s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "a", Connector: connect.To(w.target(t, backend))})
			all, ann, bob := notices(s), &person{name: "ann"}, &person{name: "bob"}
			for _, p := range []*person{ann, bob} {
				_, err := s.CallTool(p.calling(t), withProgress("a_run", 42, nil))
				require.NoError(t, err)
			}
			tokens, steps := ann.progress()
			assert.Equal(t, []any{42, 42}, tokens)
			assert.Equal(t, []any{1.0, 2.0}, steps)
			late, _ := bob.progress()
			assert.Empty(t, late, "the progress of a call that is over is nobody's")
			assert.Equal(t, "elsewhere", hear(t, all, "notifications/progress").Params.AdditionalFields["progressToken"])
			assert.Empty(t, all, "and is not told to the session either")

			var sent []string
			for _, request := range backend.Requests() {
				if request.Method == "tools/call" {
					sent = append(sent, string(request.Params))
				}
			}
			assert.Contains(t, sent[0], `"progressToken":"vmcp-1"`)
			assert.Contains(t, sent[1], `"progressToken":"vmcp-2"`)
		})
	}
}

func TestWhoDoesNotWantProgressAsksForNone(t *testing.T) {
	t.Parallel()
	backend, server := links[0].serve(t, "a", callable(onlyTools("run")))
	s := build(t, &vmcp.Builder{}, backend)
	for _, ctx := range []context.Context{t.Context(), vmcp.WithPeer(t.Context(), vmcp.Peer{})} {
		_, err := s.CallTool(ctx, withProgress("a_run", "mine", nil))
		require.NoError(t, err)
	}
	_, err := s.CallTool((&person{}).calling(t), callOf("a_run"))
	require.NoError(t, err)
	for _, request := range server.Requests() {
		assert.NotContains(t, string(request.Params), "progressToken", request.Method)
	}
}

func TestALogMessageIsHeardWithoutWhatIsAboutTheConnection(t *testing.T) {
	t.Parallel()
	script := onlyTools("run")
	script.Answers["tools/call"] = []badserver.Answer{{Result: json.RawMessage(`{"content":[]}`), Before: []json.RawMessage{
		json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi","_meta":{"io.modelcontextprotocol/subscriptionId":1,"own":2}}}`),
	}}}
	s := build(t, &vmcp.Builder{}, scripted(t, "a", script))
	all := notices(s)
	_, err := s.CallTool(t.Context(), callOf("a_run"))
	require.NoError(t, err)
	said := hear(t, all, "notifications/message")
	assert.Equal(t, "hi", said.Params.AdditionalFields["data"])
	assert.Equal(t, map[string]any{"own": 2.0}, said.Params.Meta)
}

func TestTheLevelReachesAllThatLogAndFailuresAreNamed(t *testing.T) {
	t.Parallel()
	logging := func(answer badserver.Answer) badserver.Script {
		return callable(with(`{"tools":{},"logging":{}}`, answers{"tools/list": {badserver.Tools("run")}, "logging/setLevel": {answer}}))
	}
	good, failing, newest, silent := badserver.New(logging(badserver.Answer{})), badserver.New(logging(badserver.Fail(mcp.INTERNAL_ERROR, "no"))),
		badserver.New(modernOf(logging(badserver.Answer{}))), badserver.New(onlyTools("run"))
	var backends []vmcp.Backend
	for id, s := range map[string]*badserver.Server{"good": good, "failing": failing, "newest": newest, "silent": silent} {
		backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(inProcess(t, s))})
	}
	s := build(t, &vmcp.Builder{}, backends...)
	require.True(t, s.HasLogging())
	err := s.SetLevel(t.Context(), mcp.LoggingLevelError)
	require.ErrorIs(t, err, mcp.ErrInternalError)
	require.ErrorContains(t, err, `backend "failing"`)
	assert.NotContains(t, err.Error(), "good")
	assert.Equal(t, []int{1, 1, 0, 0}, []int{good.Count("logging/setLevel"), failing.Count("logging/setLevel"), newest.Count("logging/setLevel"), silent.Count("logging/setLevel")})
	_, err = s.CallTool(t.Context(), callOf("newest_run"))
	require.NoError(t, err)
	requests := newest.Requests()
	assert.Contains(t, string(requests[len(requests)-1].Params), `"io.modelcontextprotocol/logLevel":"error"`)

	require.ErrorIs(t, s.SetLevel(t.Context(), "loud"), mcp.ErrInvalidParams)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.SetLevel(t.Context(), mcp.LoggingLevelError), vmcp.ErrClosed)
}

func modernOf(script badserver.Script) badserver.Script {
	script.Protocol = modern
	return script
}

func TestASubscriptionGoesToTheResourcesBackend(t *testing.T) {
	t.Parallel()
	resources := func(capabilities, uri string) *badserver.Server {
		return badserver.New(with(capabilities, answers{
			"resources/list": {badserver.Resources(uri)}, "resources/templates/list": {badserver.ResourceTemplates()},
			"resources/subscribe": {badserver.Answer{}}, "resources/unsubscribe": {badserver.Answer{}},
		}))
	}
	one, two := resources(`{"resources":{"subscribe":true}}`, "res://one"), resources(`{"resources":{}}`, "res://two")
	s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "one", Connector: connect.To(inProcess(t, one))}, vmcp.Backend{ID: "two", Connector: connect.To(inProcess(t, two))})
	all := notices(s)
	require.True(t, s.HasSubscriptions())
	require.NoError(t, s.Subscribe(t.Context(), "res://one"))
	one.Notify(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"res://one"}}`))
	assert.Equal(t, "res://one", hear(t, all, mcp.MethodNotificationResourceUpdated).Params.AdditionalFields["uri"])
	require.NoError(t, s.Unsubscribe(t.Context(), "res://one"))
	assert.Equal(t, []int{1, 1, 0}, []int{one.Count("resources/subscribe"), one.Count("resources/unsubscribe"), two.Count("resources/subscribe")})

	err := s.Subscribe(t.Context(), "res://two")
	require.ErrorIs(t, err, mcp.ErrMethodNotFound)
	require.ErrorContains(t, err, `backend "two"`)
	var unknown *vmcp.UnknownError
	require.ErrorAs(t, s.Subscribe(t.Context(), "res://three"), &unknown)
}

func TestOnlyTheNamedHeadersTravel(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			script := callable(honest())
			script.Protocol, script.Capabilities = protocol, json.RawMessage(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`)
			server := badserver.New(script)
			target := overHTTP(t, server).(connect.HTTP)
			target.Headers = map[string]string{"X-Own": "ours"}
			s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "a", Connector: connect.To(target), ForwardHeaders: []string{"x-tenant", "X-OWN"}})
			before := len(server.Requests())
			header := http.Header{"X-Tenant": {"acme"}, "X-Own": {"theirs"}, "Authorization": {"Bearer secret"}, "Cookie": {"secret"}}
			ctx := vmcp.WithPeer(t.Context(), vmcp.Peer{Header: header})
			_, err := s.CallTool(ctx, callOf("a_alpha"))
			require.NoError(t, err)
			_, err = s.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "res://one"}})
			require.NoError(t, err)
			_, err = s.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "a_greet"}})
			require.NoError(t, err)
			_, err = s.Complete(ctx, mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Name: "a_greet"}}})
			require.NoError(t, err)
			seen := 0
			for _, request := range server.Requests()[before:] {
				if request.Method == http.MethodGet {
					continue
				}
				seen++
				assert.Equal(t, "acme", request.Header.Get("X-Tenant"), request.Method)
				assert.Equal(t, "ours", request.Header.Get("X-Own"), request.Method)
				assert.Empty(t, request.Header.Get("Authorization")+request.Header.Get("Cookie"), request.Method)
			}
			assert.Equal(t, 4, seen)
		})
	}
}

func TestWhatChangedWhileNobodyListenedIsNoticed(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			acknowledged := json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}`)
			stream := []badserver.Answer{
				badserver.Answer{Cut: true, Before: []json.RawMessage{acknowledged}}.Once(), {Hang: true, Before: []json.RawMessage{acknowledged}},
			}
			script := with(`{"tools":{"listChanged":true}}`, answers{
				"tools/list": {badserver.Tools("old").Once(), badserver.Tools("new")}, "GET": stream, "subscriptions/listen": stream,
			})
			script.Protocol = protocol
			s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "a", Connector: connect.To(overHTTP(t, badserver.New(script)))})
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				assert.Equal(c, []string{"a_new"}, toolNames(s))
			}, 20*time.Second, 10*time.Millisecond)
		})
	}
}

// waiting answers nothing until it is told that nobody waits any more.
type waiting struct{ asked, released chan struct{} }

func (w waiting) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	close(w.asked)
	<-ctx.Done()
	close(w.released)
	return nil, ctx.Err()
}

func TestAQuestionEndsWithTheCallThatItIsFor(t *testing.T) {
	t.Parallel()
	script := onlyTools("run")
	script.Answers["tools/call"] = []badserver.Answer{{Hang: true}}
	script.Answers["GET"] = []badserver.Answer{{}}
	backend := badserver.New(script)
	configured := vmcp.Backend{ID: "a", Connector: connect.To(overHTTP(t, backend)), CallTimeout: 2 * time.Second}
	s := build(t, &vmcp.Builder{Asks: anything}, configured)
	require.NoError(t, backend.Await(soon(t), "GET", 1))
	w := waiting{make(chan struct{}), make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := s.CallTool(vmcp.WithPeer(t.Context(), vmcp.Peer{Roots: w}), callOf("a_run"))
		ended <- err
	}()
	require.NoError(t, backend.Await(soon(t), "tools/call", 1))
	require.Eventually(t, func() bool { // the stream may not be open yet
		backend.Notify(json.RawMessage(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`))
		select {
		case <-w.asked:
			return true
		default:
			return false
		}
	}, 20*time.Second, 50*time.Millisecond)
	require.ErrorIs(t, <-ended, context.DeadlineExceeded)
	select {
	case <-w.released:
	case <-soon(t).Done():
		require.Fail(t, "the question is still open")
	}
}

func TestTheDataOfARefusalHasNoSecrets(t *testing.T) {
	t.Parallel()
	script := onlyTools("run")
	script.Answers["tools/call"] = []badserver.Answer{{Error: &badserver.Error{Code: -32001, Message: "no", Data: json.RawMessage(`{"list":["Bearer ` + planted + `",1],"key":"` + planted + `","n":null}`)}}}
	target := overHTTP(t, badserver.New(script)).(connect.HTTP)
	target.Headers = map[string]string{"Authorization": "Bearer " + planted}
	s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "a", Connector: connect.To(target)})
	_, err := s.CallTool(t.Context(), callOf("a_run"))
	var refused *vmcp.RefusedError
	require.ErrorAs(t, err, &refused)
	data, err := json.Marshal(refused.Data)
	require.NoError(t, err)
	assert.JSONEq(t, `{"list":["***",1],"key":"***","n":null}`, string(data))
}

func TestRootsThatChangedAreToldToWhoIsThere(t *testing.T) {
	t.Parallel()
	older, newest := badserver.New(onlyTools("run")), badserver.New(modernOf(onlyTools("run")))
	s := build(t, &vmcp.Builder{Asks: anything}, vmcp.Backend{ID: "older", Connector: connect.To(overHTTP(t, older))},
		vmcp.Backend{ID: "newest", Connector: connect.To(overHTTP(t, newest))}, scripted(t, "down", with(`{"tools":{}}`, answers{"tools/list": {databaseDown}})))
	require.NoError(t, s.RootsChanged(t.Context()))
	assert.Equal(t, []int{1, 0}, []int{older.Count("notifications/roots/list_changed"), newest.Count("notifications/roots/list_changed")})
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.RootsChanged(t.Context()), vmcp.ErrClosed)
}
