package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func two() map[string]badserver.Script {
	return map[string]badserver.Script{"one": serving("one"), "two": serving("two")}
}

func TestTheListsHaveWhatAllBackendsHave(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		g, _ := before(t, two())
		c, hello := w.connected(t, g)
		assert.Equal(t, "the gateway", hello.ServerInfo.Name)

		tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		require.NoError(t, err)
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		assert.Equal(t, []string{"one_run", "one_stop", "two_run", "two_stop"}, names)

		prompts, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
		require.NoError(t, err)
		names = nil
		for _, prompt := range prompts.Prompts {
			names = append(names, prompt.Name)
		}
		assert.Equal(t, []string{"one_greet", "two_greet"}, names)

		resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
		require.NoError(t, err)
		names = nil
		for _, resource := range resources.Resources {
			names = append(names, resource.URI)
		}
		assert.Equal(t, []string{"res://one", "res://two"}, names)

		templates, err := c.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
		require.NoError(t, err)
		names = nil
		for _, template := range templates.ResourceTemplates {
			names = append(names, template.URITemplate.Raw())
		}
		assert.Equal(t, []string{"res://one/{id}", "res://two/{id}"}, names)
	})
}

func TestCallsAreAnsweredByTheRightBackendWithOneRequest(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		g, servers := before(t, two())
		c, _ := w.connected(t, g)
		before := len(servers["one"].Requests())

		call, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "two_run"}})
		require.NoError(t, err)
		assert.Equal(t, "two", call.Content[0].(mcp.TextContent).Text)
		prompt, err := c.GetPrompt(t.Context(), mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "two_greet"}})
		require.NoError(t, err)
		assert.Equal(t, "two", prompt.Description)
		for _, uri := range []string{"res://two", "res://two/7"} {
			read, err := c.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
			require.NoError(t, err)
			assert.Equal(t, "two", read.Contents[0].(mcp.TextResourceContents).Text)
		}
		for _, ref := range []any{
			mcp.PromptReference{Type: "ref/prompt", Name: "two_greet"},
			mcp.ResourceReference{Type: "ref/resource", URI: "res://two/{id}"},
		} {
			completed, err := c.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteArgument{Name: "id", Value: "7"}}})
			require.NoError(t, err)
			assert.Equal(t, []string{"two"}, completed.Completion.Values)
		}

		assert.Len(t, servers["one"].Requests(), before, "the other backend is not asked")
		for method, want := range map[string]int{"tools/call": 1, "prompts/get": 1, "resources/read": 2, "completion/complete": 2} {
			assert.Equal(t, want, servers["two"].Count(method), method)
		}
	})
}

// capabilitiesOf are the names of what a server declares.
func capabilitiesOf(t *testing.T, hello *mcp.InitializeResult) []string {
	t.Helper()
	text, err := json.Marshal(hello.Capabilities)
	require.NoError(t, err)
	var declared map[string]any
	require.NoError(t, json.Unmarshal(text, &declared))
	names := []string{}
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestOnlyWhatIsReallyServedIsDeclared(t *testing.T) {
	t.Parallel()
	lacking := func(methods ...string) badserver.Script {
		script := serving("lacking")
		for _, method := range methods {
			delete(script.Answers, method) // -32601
		}
		return script
	}
	cases := []struct {
		name    string
		scripts map[string]badserver.Script
		want    []string
	}{
		{"all that one backend has", map[string]badserver.Script{"a": serving("a")},
			[]string{"completions", "logging", "prompts", "resources", "tools"}},
		{"the union of two", map[string]badserver.Script{
			"a": only(`{"tools":{}}`, serving("a")), "b": only(`{"prompts":{}}`, serving("b"))},
			[]string{"logging", "prompts", "tools"}},
		{"no resources where the only backend with them was forgiven", map[string]badserver.Script{
			"a": only(`{"tools":{},"resources":{}}`, lacking("resources/list", "resources/templates/list"))},
			[]string{"logging", "tools"}},
		{"resources where templates are left", map[string]badserver.Script{
			"a": only(`{"resources":{}}`, lacking("resources/list"))},
			[]string{"logging", "resources"}},
		{"no prompts where the only backend with them was forgiven", map[string]badserver.Script{
			"a": only(`{"tools":{},"prompts":{}}`, lacking("prompts/list"))},
			[]string{"logging", "tools"}},
		{"resources of one where another was forgiven", map[string]badserver.Script{
			"a": only(`{"resources":{}}`, serving("a")), "b": lacking("resources/list", "resources/templates/list", "prompts/list")},
			[]string{"logging", "resources", "tools"}},
		{"no completions where nobody has any", map[string]badserver.Script{
			"a": only(`{"tools":{},"prompts":{},"resources":{}}`, serving("a"))},
			[]string{"logging", "prompts", "resources", "tools"}},
		{"no completions where there is nothing to complete", map[string]badserver.Script{
			"a": only(`{"tools":{},"completions":{}}`, serving("a"))},
			[]string{"logging", "tools"}},
		{"nothing where there is nothing", map[string]badserver.Script{
			"a": only(`{"tools":{}}`, badserver.Script{Answers: answers{"tools/list": {badserver.Tools()}}})},
			[]string{"logging"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			everyWay(t, func(t *testing.T, w way) {
				g, _ := before(t, c.scripts)
				_, hello := w.connected(t, g)
				assert.Equal(t, c.want, capabilitiesOf(t, hello))
			})
		})
	}
}

func TestWhatPassesTheGateway(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		script := serving("one")
		script.Protocol = modern
		about := map[string]any{"com.example/cost": "3", mcp.MetaKeyServerInfo: map[string]any{"name": "hidden", "version": "0"}}
		script.Answers["tools/call"] = []badserver.Answer{badserver.Result(map[string]any{
			"resultType":        "complete",
			"content":           []any{map[string]any{"type": "text", "text": "no such file"}},
			"structuredContent": map[string]any{"id": json.RawMessage("9007199254740993")},
			"isError":           true,
			"_meta":             about,
		})}
		script.Answers["prompts/get"] = []badserver.Answer{badserver.Result(map[string]any{"resultType": "complete", "messages": []any{}, "_meta": about})}
		g, servers := before(t, map[string]badserver.Script{"one": script})
		c, _ := w.connected(t, g)
		var request mcp.CallToolRequest
		require.NoError(t, json.Unmarshal([]byte(`{"params":{"name":"one_run","arguments":{"id":9007199254740993},
			"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","progressToken":5}}}`), &request))
		called, err := c.CallTool(t.Context(), request)
		require.NoError(t, err)
		prompt, err := c.GetPrompt(t.Context(), mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "one_greet"}})
		require.NoError(t, err)

		assert.True(t, called.IsError, "a tool's failure is a result")
		assert.JSONEq(t, `{"id":9007199254740993}`, string(called.RawStructuredContent))
		for _, back := range []mcp.Result{called.Result, prompt.Result} {
			want, resultType := map[string]any{"com.example/cost": "3"}, mcp.ResultType("")
			if w.protocol == modern {
				resultType = mcp.ResultTypeComplete
				want[mcp.MetaKeyServerInfo] = map[string]any{"name": "the gateway", "version": "1"}
			}
			assert.Equal(t, resultType, back.ResultType)
			assert.Equal(t, want, back.Meta.AdditionalFields)
		}

		for _, sent := range servers["one"].Requests() {
			if sent.Method != "tools/call" {
				continue
			}
			var params struct {
				Arguments json.RawMessage `json:"arguments"`
				Meta      map[string]any  `json:"_meta"`
			}
			require.NoError(t, json.Unmarshal(sent.Params, &params))
			assert.Equal(t, `{"id":9007199254740993}`, string(params.Arguments), "the digits are kept")
			assert.Equal(t, map[string]any{
				"progressToken":               "vmcp-1", // one of the session's: two callers may have the same
				"traceparent":                 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
				mcp.MetaKeyProtocolVersion:    modern,
				mcp.MetaKeyClientInfo:         map[string]any{"name": "candor", "version": "0.1.0"},
				mcp.MetaKeyClientCapabilities: map[string]any{},
			}, params.Meta)
		}
	})
}

func TestErrorsSayWhichBackendAndWhy(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		script := serving("one")
		for _, method := range []string{"tools/call", "prompts/get", "resources/read", "completion/complete"} {
			script.Answers[method] = []badserver.Answer{badserver.Fail(mcp.INVALID_PARAMS, "who is missing")}
		}
		g, _ := before(t, map[string]badserver.Script{"one": script})
		c, _ := w.connected(t, g)
		_, errCall := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "one_run"}})
		_, errPrompt := c.GetPrompt(t.Context(), mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "one_greet"}})
		_, errRead := c.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "res://one"}})
		_, errComplete := c.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}}})
		for _, err := range []error{errCall, errPrompt, errRead, errComplete} {
			require.Error(t, err)
			require.ErrorIs(t, err, mcp.ErrInvalidParams, "the code is the backend's")
			assert.Regexp(t, `backend "one": .*who is missing`, err.Error())
		}
	})
}

func TestCompletionsOfABackendThatHasNoneAreEmpty(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		without := only(`{"prompts":{}}`, serving("without"))
		delete(without.Answers, "completion/complete")
		g, _ := before(t, map[string]badserver.Script{"with": serving("with"), "without": without})
		c, _ := w.connected(t, g)
		for name, want := range map[string][]string{"with_greet": {"with"}, "without_greet": {}} {
			completed, err := c.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: name}}})
			require.NoError(t, err)
			assert.Equal(t, want, completed.Completion.Values, name)
		}
	})
}

// The backend is one of mcp-go's in this process, which shares the caller's
// context with the gateway.
func TestTheCallersHeadersAndSessionDoNotReachABackend(t *testing.T) {
	t.Parallel()
	for _, w := range ways[:2] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			inner := server.NewMCPServer("inner", "1")
			seen := make(chan http.Header, 1)
			inner.AddTool(mcp.NewTool("run"), func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				seen <- request.Header
				return mcp.NewToolResultText(server.ClientSessionFromContext(ctx).SessionID()), nil
			})
			g := over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "one", Connector: connect.To(connect.InProcess{Server: inner})}})
			c, _ := w.connected(t, g)
			result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Header: http.Header{"Authorization": {"Bearer of-the-caller"}}, Params: mcp.CallToolParams{Name: "one_run"}})
			require.NoError(t, err)
			assert.Empty(t, <-seen)
			assert.NotEqual(t, c.GetSessionId(), result.Content[0].(mcp.TextContent).Text)
		})
	}
}

func TestACallerWhoLeavesEndsTheCall(t *testing.T) {
	t.Parallel()
	for _, w := range ways[:2] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			script := serving("one")
			script.Answers["tools/call"] = []badserver.Answer{{Hang: true}}
			g, servers := before(t, map[string]badserver.Script{"one": script})
			c, _ := w.connected(t, g)
			ctx, leave := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "one_run"}})
				ended <- err
			}()
			require.NoError(t, servers["one"].Await(soon(t), "tools/call", 1))
			leave()
			require.ErrorIs(t, <-ended, context.Canceled)
			require.NoError(t, servers["one"].Await(soon(t), "notifications/cancelled", 1), "the backend is told")
		})
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	g, servers := before(t, two())
	address := listen(t, g)
	const callers, calls = 8, 4
	ended := make(chan error, callers*calls)
	for i := range callers {
		w := way{protocol: ways[i%2].protocol, dial: func(t *testing.T, _ *gateway.Gateway) transport.Interface {
			tr, err := transport.NewStreamableHTTP(address, transport.WithHTTPBasicClient(httpClient(t)))
			require.NoError(t, err)
			return tr
		}}
		c, _ := w.connected(t, g)
		for range calls {
			go func() {
				result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "two_run"}})
				if err == nil && result.Content[0].(mcp.TextContent).Text != "two" {
					err = errors.New("answered by another backend")
				}
				ended <- err
			}()
		}
	}
	for range callers * calls {
		require.NoError(t, <-ended)
	}
	assert.Equal(t, callers*calls, servers["two"].Count("tools/call"))
	assert.Zero(t, servers["one"].Count("tools/call"))
}

func TestTheEndpoint(t *testing.T) {
	t.Parallel()
	g, servers := before(t, two())
	address := listen(t, g)
	ask := func(t *testing.T, host, contentType string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one_run"}}`))
		require.NoError(t, err)
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Host = host
		response, err := httpClient(t).Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	const json = "application/json"
	t.Run("403 for a Host that is not loopback", func(t *testing.T) {
		for _, host := range []string{"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"} {
			status, body := ask(t, host, json)
			assert.Equal(t, http.StatusForbidden, status, host)
			assert.Contains(t, body, "not a loopback address")
		}
	})
	t.Run("415 for what a web page may send without asking first", func(t *testing.T) {
		for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
			status, _ := ask(t, "", contentType)
			assert.Equal(t, http.StatusUnsupportedMediaType, status, contentType)
		}
	})
	assert.Zero(t, servers["one"].Count("tools/call"), "none of that reached a backend")
	t.Run("localhost is loopback", func(t *testing.T) {
		_, body := ask(t, "localhost:80", json)
		assert.NotContains(t, body, "Host")
	})
}

func TestStdioEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g, _ := before(t, two())
	in, toGateway := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error)
	go func() {
		served <- g.ServeStdio(ctx, in, io.Discard)
	}()
	end()
	require.NoError(t, <-served)
	require.NoError(t, toGateway.Close()) // what reads from it ends then
}
