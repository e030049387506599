package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// curious is a server of mcp-go whose tools ask the caller, the older way.
func curious() *server.MCPServer {
	s := server.NewMCPServer("curious", "1", server.WithToolCapabilities(true), server.WithElicitation(), server.WithRoots())
	s.EnableSampling()
	add := func(name string, ask func(context.Context) (any, error)) {
		s.AddTool(mcp.NewTool(name), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := ask(ctx)
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			text, err := json.Marshal(answer)
			return mcp.NewToolResultText(string(text)), err
		})
	}
	elicit := func(ctx context.Context, what string) (any, error) {
		return s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: what, RequestedSchema: object{"type": "object", "properties": object{}}}})
	}
	add("sample", func(ctx context.Context) (any, error) {
		return s.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 7, Messages: []mcp.SamplingMessage{}}})
	})
	add("elicit", func(ctx context.Context) (any, error) { return elicit(ctx, "who?") })
	add("roots", func(ctx context.Context) (any, error) { return s.RequestRoots(ctx, mcp.ListRootsRequest{}) })
	add("twice", func(ctx context.Context) (any, error) {
		first, err := elicit(ctx, "first?")
		if err != nil {
			return nil, err
		}
		second, err := elicit(ctx, "second?")
		return []any{first, second}, err
	})
	add("hasty", func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := elicit(ctx, "quick?")
		return fmt.Sprint("did without: ", errors.Is(err, context.DeadlineExceeded) || err != nil), nil
	})
	return s
}

// answersTo are what the caller says, by what it is asked.
var answersTo = map[string]object{
	"sampling/createMessage": {"role": "assistant", "model": "of the caller", "content": object{"type": "text", "text": "hm"}},
	"elicitation/create":     {"action": "accept", "content": object{"name": "ann"}},
	"roots/list":             {"roots": []any{object{"uri": "file:///home/ann"}}},
}

// askingTools are those that ask, what they ask, and what of the answer they tell.
var askingTools = []struct{ tool, method, asks, tells string }{
	{"c_sample", "sampling/createMessage", `"maxTokens":7`, "of the caller"},
	{"c_elicit", "elicitation/create", `"message":"who?"`, `"name":"ann"`},
	{"c_roots", "roots/list", ``, "file:///home/ann"},
}

// askers are gateways before the curious server, by how it is reached.
var askers = map[string]func(*testing.T) connect.Target{
	"in-process": func(*testing.T) connect.Target { return connect.InProcess{Server: curious()} },
	"over HTTP": func(t *testing.T) connect.Target {
		backend := httptest.NewServer(server.NewStreamableHTTPServer(curious()))
		t.Cleanup(backend.Close)
		return connect.HTTP{URL: backend.URL + "/mcp"}
	},
}

func asking(t *testing.T, target connect.Target, options ...func(*gateway.Options)) *gateway.Gateway {
	t.Helper()
	return over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "c", Connector: connect.To(target, connect.WithProtocolVersion(legacy))}}, options...)
}

func TestALegacyCallerIsAskedOnTheStreamOfHisCall(t *testing.T) {
	t.Parallel()
	for name, target := range askers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := reach(t, listen(t, asking(t, target(t))), who{protocol: legacy, can: everything})
			for _, c := range askingTools {
				call := w.begin(t.Context(), "tools/call", object{"name": c.tool})
				question := call.next()
				require.Equal(t, c.method, question.Method)
				assert.Contains(t, string(question.Params), c.asks)
				w.tell(object{"id": question.ID, "result": answersTo[c.method]})
				assert.Contains(t, call.answer().text(t), c.tells)
			}
		})
	}
}

func TestAnErrorOfTheCallerReachesTheBackend(t *testing.T) {
	t.Parallel()
	w := reach(t, listen(t, asking(t, askers["in-process"](t))), who{protocol: legacy, can: everything})
	for _, c := range []struct {
		answer object
		tells  string
	}{
		{object{"error": object{"code": -1, "message": "the user said no"}}, "the user said no"},
		{object{"result": object{"action": "perhaps"}}, `there is no action "perhaps"`},
	} {
		call := w.begin(t.Context(), "tools/call", object{"name": "c_elicit"})
		c.answer["id"] = call.next().ID
		w.tell(c.answer)
		assert.Contains(t, call.answer().text(t), c.tells)
	}
}

// needed is a result that needs input.
type needed struct {
	ResultType    string `json:"resultType"`
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState string
}

func need(t *testing.T, answer said) (n needed) {
	t.Helper()
	answer.into(t, &n)
	require.Equal(t, "input_required", n.ResultType, string(answer.Result))
	return n
}

// again are the parameters of a call that is sent again.
func again(tool, state string, responses object) object {
	return object{"name": tool, "requestState": state, "inputResponses": responses}
}

var asker = who{protocol: modern, can: everything}

func TestAModernCallerIsAskedInRounds(t *testing.T) {
	t.Parallel()
	for name, target := range askers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := reach(t, listen(t, asking(t, target(t))), asker)
			for _, c := range askingTools {
				asked := need(t, w.call(c.tool))
				require.Len(t, asked.InputRequests, 1)
				assert.Equal(t, c.method, asked.InputRequests["1"].Method)
				assert.Contains(t, string(asked.InputRequests["1"].Params), c.asks)
				answer := w.ask("tools/call", again(c.tool, asked.RequestState, object{"1": answersTo[c.method]}))
				assert.Contains(t, answer.text(t), c.tells)
			}
		})
	}
}

func TestSeveralQuestionsAreSeveralRounds(t *testing.T) {
	t.Parallel()
	p := plug(t, asking(t, askers["in-process"](t)), asker)
	first := need(t, p.call("c_twice"))
	assert.Contains(t, string(first.InputRequests["1"].Params), "first?")
	second := need(t, p.ask("tools/call", again("c_twice", first.RequestState, object{"1": object{"action": "accept", "content": object{"n": "one"}}})))
	assert.Contains(t, string(second.InputRequests["1"].Params), "second?")
	assert.NotEqual(t, first.RequestState, second.RequestState)
	used := p.ask("tools/call", again("c_twice", first.RequestState, object{"1": answersTo["elicitation/create"]})).Error
	require.NotNil(t, used)
	assert.Equal(t, mcp.INVALID_PARAMS, used.Code, "a state is good for once")
	end := p.ask("tools/call", again("c_twice", second.RequestState, object{"1": object{"action": "decline"}})).text(t)
	assert.Less(t, strings.Index(end, `"n":"one"`), strings.Index(end, "decline"), end)
}

func TestARoundSurvivesAnswersThatAreNoGood(t *testing.T) {
	t.Parallel()
	p := plug(t, asking(t, askers["in-process"](t)), asker)
	asked := need(t, p.call("c_elicit"))
	for _, wrong := range []any{"yes", object{}, object{"action": "perhaps"}} {
		refused := p.ask("tools/call", again("c_elicit", asked.RequestState, object{"1": wrong})).Error
		require.NotNil(t, refused, wrong)
		assert.Equal(t, mcp.INVALID_PARAMS, refused.Code)
		assert.Contains(t, refused.Message, "elicitation/create")
	}
	refused := p.ask("tools/call", again("c_sample", asked.RequestState, nil)).Error
	require.NotNil(t, refused)
	assert.Equal(t, "the requestState belongs to another request", refused.Message)
	asked = need(t, p.ask("tools/call", again("c_elicit", asked.RequestState, object{"2": object{}})))
	assert.Contains(t, string(asked.InputRequests["1"].Params), "who?", "what is missing is asked for again")
	assert.Contains(t, p.ask("tools/call", again("c_elicit", asked.RequestState, object{"1": answersTo["elicitation/create"]})).text(t), "ann")
}

func TestAnUnknownStateOfThisGatewayIsRefused(t *testing.T) {
	t.Parallel()
	p := plug(t, asking(t, askers["in-process"](t)), asker)
	state := need(t, p.call("c_elicit")).RequestState
	refused := p.ask("tools/call", again("c_elicit", state+"x", object{"1": answersTo["elicitation/create"]})).Error
	require.NotNil(t, refused)
	assert.Equal(t, mcp.INVALID_PARAMS, refused.Code)
	assert.Contains(t, refused.Message, "send the request without it")
}

// To make the call again would be worse than to be late.
func TestTheOutcomeOfACallWaitsForAClientThatIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := plug(t, asking(t, askers["in-process"](t)), asker)
		state := need(t, p.call("c_hasty")).RequestState
		<-time.After(time.Minute)
		late := p.ask("tools/call", again("c_hasty", state, object{"1": answersTo["elicitation/create"]}))
		assert.Contains(t, late.text(t), "did without: true")

		state = need(t, p.call("c_hasty")).RequestState
		<-time.After(10 * time.Minute)
		refused := p.ask("tools/call", again("c_hasty", state, object{"1": answersTo["elicitation/create"]})).Error
		require.NotNil(t, refused, "but not for ever")
		assert.Contains(t, refused.Message, "or no more")
	})
}

func TestACallThatWaitsForInputKeepsTheSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := asking(t, askers["in-process"](t), func(o *gateway.Options) { o.Idle = 10 * time.Second })
		p := plug(t, g, asker)
		asked := need(t, p.call("c_elicit"))
		plug(t, g, newest) // the session that is used last, which stays anyway
		<-time.After(4 * time.Minute)
		answer := p.ask("tools/call", again("c_elicit", asked.RequestState, object{"1": answersTo["elicitation/create"]}))
		assert.Contains(t, answer.text(t), "ann")

		asked = need(t, p.call("c_elicit"))
		<-time.After(11 * time.Minute)
		late := p.ask("tools/call", again("c_elicit", asked.RequestState, object{"1": answersTo["elicitation/create"]}))
		assert.Contains(t, string(late.Result), `"isError":true`, "a person has 10 minutes")
	})
}

func TestACallerThatCannotBeAskedCostsTheBackendAClearError(t *testing.T) {
	t.Parallel()
	g := asking(t, askers["in-process"](t))
	for _, me := range []who{plain, newest, {protocol: legacy, can: object{"roots": object{}}}, {protocol: modern, can: object{"roots": object{}}}} {
		p := plug(t, g, me)
		answer := p.call("c_elicit")
		if answer.Error == nil {
			assert.Contains(t, string(answer.Result), `"isError":true`)
			assert.Contains(t, answer.text(t), "elicitation")
			continue
		}
		assert.Contains(t, answer.Error.Message, "elicitation")
	}
}

// needy asks the newest way.
func needy() *server.MCPServer {
	s := server.NewMCPServer("needy", "1", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("ask"), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(request.Params.InputResponses) == 0 {
			asked := mcp.NewInputRequiredResult(mcp.InputRequests{
				"a": mcp.NewElicitationInputRequest(mcp.ElicitationParams{Message: "who?", RequestedSchema: object{"type": "object"}}),
				"b": mcp.NewRootsInputRequest(),
			}, "vmcp-state of the backend")
			return &mcp.CallToolResult{Result: asked.Result, MultiRoundTripResult: asked.MultiRoundTripResult}, nil
		}
		said, err := json.Marshal(request.Params.InputResponses)
		return mcp.NewToolResultText(request.Params.RequestState + string(said)), err
	})
	return s
}

func beforeNeedy(t *testing.T) string {
	t.Helper()
	backend := httptest.NewServer(server.NewStreamableHTTPServer(needy()))
	t.Cleanup(backend.Close)
	return listen(t, over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "n", Connector: connect.To(connect.HTTP{URL: backend.URL + "/mcp"}, connect.WithProtocolVersion(modern))}}))
}

// The state may look like one of a gateway: the backend may be one.
func TestRoundsOfAModernBackendPassThrough(t *testing.T) {
	t.Parallel()
	w := reach(t, beforeNeedy(t), asker)
	asked := need(t, w.call("n_ask"))
	assert.Equal(t, "vmcp-state of the backend", asked.RequestState)
	assert.Len(t, asked.InputRequests, 2)
	answer := w.ask("tools/call", again("n_ask", asked.RequestState, object{"a": answersTo["elicitation/create"], "b": answersTo["roots/list"]}))
	assert.Contains(t, answer.text(t), "vmcp-state of the backend{")
	assert.Contains(t, answer.text(t), "file:///home/ann")
}

func TestALegacyCallerAnswersAModernBackend(t *testing.T) {
	t.Parallel()
	w := reach(t, beforeNeedy(t), who{protocol: legacy, can: everything})
	call := w.begin(t.Context(), "tools/call", object{"name": "n_ask"})
	for range 2 {
		question := call.next()
		w.tell(object{"id": question.ID, "result": answersTo[question.Method]})
	}
	answer := call.answer().text(t)
	assert.Contains(t, answer, "file:///home/ann")
	assert.Contains(t, answer, `"name":"ann"`)
}

// A client that leaves while its backend works ends the call there.
func TestAModernCallerWhoLeavesARoundEndsTheCall(t *testing.T) {
	t.Parallel()
	inner := server.NewMCPServer("inner", "1", server.WithElicitation())
	begun, ended := make(chan struct{}), make(chan struct{})
	inner.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	w := reach(t, listen(t, asking(t, connect.InProcess{Server: inner})), asker)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		body, _ := message(t, "tools/call", w.params(object{"name": "c_wait"}))
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(string(body)))
		for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "c_wait"} {
			r.Header.Set(name, value)
		}
		_, err := w.http.Do(r)
		assert.ErrorIs(t, err, context.Canceled)
	}()
	receive(t, begun)
	leave()
	receive(t, ended)
	receive(t, left)
}

// receive waits, but not for ever.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-soon(t).Done():
		require.FailNow(t, "nothing came")
	}
	return v
}
