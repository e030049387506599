package vmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// serving is an honest server that answers calls, with its name in the answer.
func serving(name string) badserver.Script {
	script := honest()
	script.Capabilities = json.RawMessage(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`)
	script.Answers["resources/list"] = []badserver.Answer{badserver.Resources("res://" + name)}
	script.Answers["resources/templates/list"] = []badserver.Answer{badserver.ResourceTemplates("res://" + name + "/{id}")}
	script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText(name))}
	script.Answers["prompts/get"] = []badserver.Answer{badserver.Result(map[string]any{"description": name, "messages": []any{}})}
	script.Answers["resources/read"] = []badserver.Answer{badserver.Result(map[string]any{"contents": []any{map[string]any{"uri": "res://" + name, "text": name}}})}
	script.Answers["completion/complete"] = []badserver.Answer{badserver.Result(map[string]any{"completion": map[string]any{"values": []string{name}}})}
	return script
}

// A use of a session: what it asks the backend for, and what came back.
type use struct {
	name   string
	method string
	params string // what the backend gets, without _meta
	do     func(context.Context, *vmcp.Session) (string, error)
}

func callTool(name string) func(context.Context, *vmcp.Session) (string, error) {
	return func(ctx context.Context, s *vmcp.Session) (string, error) {
		result, err := s.CallTool(ctx, callOf(name))
		if err != nil {
			return "", err
		}
		return result.Content[0].(mcp.TextContent).Text, nil
	}
}

func getPrompt(name string) func(context.Context, *vmcp.Session) (string, error) {
	return func(ctx context.Context, s *vmcp.Session) (string, error) {
		result, err := s.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name, Arguments: map[string]string{"who": "you"}}})
		if err != nil {
			return "", err
		}
		return result.Description, nil
	}
}

func readResource(uri string) func(context.Context, *vmcp.Session) (string, error) {
	return func(ctx context.Context, s *vmcp.Session) (string, error) {
		result, err := s.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
		if err != nil {
			return "", err
		}
		return result.Contents[0].(mcp.TextResourceContents).Text, nil
	}
}

func complete(ref any) func(context.Context, *vmcp.Session) (string, error) {
	return func(ctx context.Context, s *vmcp.Session) (string, error) {
		result, err := s.Complete(ctx, mcp.CompleteRequest{Params: mcp.CompleteParams{
			Ref: ref, Argument: mcp.CompleteArgument{Name: "who", Value: "y"}, Context: mcp.CompleteContext{Arguments: map[string]string{"a": "b"}},
		}})
		if err != nil {
			return "", err
		}
		if len(result.Completion.Values) == 0 {
			return "", nil
		}
		return result.Completion.Values[0], nil
	}
}

func TestACallReachesTheRightBackendUnderItsOwnNameWithOneRequest(t *testing.T) {
	t.Parallel()
	const completion = `,"argument":{"name":"who","value":"y"},"context":{"arguments":{"a":"b"}}}`
	uses := []use{
		{"CallTool", "tools/call", `{"name":"beta"}`, callTool("two_beta")},
		{"GetPrompt", "prompts/get", `{"name":"greet","arguments":{"who":"you"}}`, getPrompt("two_greet")},
		{"ReadResource, listed", "resources/read", `{"uri":"res://two"}`, readResource("res://two")},
		{"ReadResource, from a template", "resources/read", `{"uri":"res://two/7"}`, readResource("res://two/7")},
		{"Complete, a prompt", "completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"}` + completion, complete(mcp.PromptReference{Type: "ref/prompt", Name: "two_greet"})},
		{"Complete, a resource", "completion/complete", `{"ref":{"type":"ref/resource","uri":"res://two/{id}"}` + completion, complete(mcp.ResourceReference{Type: "ref/resource", URI: "res://two/{id}"})},
	}
	for _, u := range uses {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				var backends []vmcp.Backend
				servers := map[string]*badserver.Server{}
				for _, id := range []string{"one", "two", "three"} {
					backend, server := l.serve(t, id, serving(id))
					backends, servers[id] = append(backends, backend), server
				}
				session := build(t, &vmcp.Builder{}, backends...)
				before := map[string]int{}
				for id, server := range servers {
					before[id] = len(server.Requests())
				}
				answer, err := u.do(t.Context(), session)
				require.NoError(t, err)
				assert.Equal(t, "two", answer)

				for id, server := range servers {
					requests := slices.DeleteFunc(server.Requests()[before[id]:], isStream)
					if id != "two" {
						assert.Empty(t, requests, id)
						continue
					}
					require.Len(t, requests, 1)
					assert.Equal(t, u.method, requests[0].Method)
					assert.JSONEq(t, u.params, paramsOf(t, requests[0]))
				}
			})
		})
	}
}

// paramsOf are the parameters of a request, without their _meta.
func paramsOf(t *testing.T, request badserver.Request) string {
	t.Helper()
	var params map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(request.Params, &params))
	delete(params, "_meta")
	text, err := json.Marshal(params)
	require.NoError(t, err)
	return string(text)
}

func metaOf(t *testing.T, request badserver.Request) map[string]any {
	t.Helper()
	var params struct {
		Meta map[string]any `json:"_meta"`
	}
	require.NoError(t, json.Unmarshal(request.Params, &params))
	return params.Meta
}

func TestEveryExposedNameLeadsToTheToolItStandsFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "A", "a_b", "a-", "a_"}), 1, 4, rapid.ID[string]).Draw(t, "ids")
		name := rapid.OneOf(rapid.StringN(0, 300, -1), rapid.SampledFrom([]string{"", "b", "b_b", "b_", "_", "a b"}))
		var backends []vmcp.Backend
		servers, own := map[string]*badserver.Server{}, map[string][]string{}
		for _, id := range ids {
			own[id] = rapid.SliceOfNDistinct(name, 0, 4, rapid.ID[string]).Draw(t, "tools of "+id)
			script := onlyTools(own[id]...)
			script.Protocol = legacy
			script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText("done"))}
			servers[id] = badserver.New(script)
			backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(servers[id])})
		}
		session, err := new(vmcp.Builder).Build(context.Background(), backends)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()

		for _, tool := range session.Tools() {
			if _, err := session.CallTool(context.Background(), callOf(tool.Name)); err != nil {
				t.Fatal(err)
			}
		}
		for id, server := range servers {
			var called []string
			for _, request := range server.Requests() {
				var params struct{ Name string }
				if request.Method == "tools/call" && json.Unmarshal(request.Params, &params) == nil {
					called = append(called, params.Name)
				}
			}
			slices.Sort(called)
			slices.Sort(own[id])
			if !slices.Equal(own[id], called) {
				t.Fatalf("backend %q has the tools %q, called were %q", id, own[id], called)
			}
		}
	})
}

func TestWhatTravelsToTheBackend(t *testing.T) {
	t.Parallel()
	t.Run("big integers keep their digits", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			backend, server := l.serve(t, "one", serving("one"))
			session := build(t, &vmcp.Builder{}, backend)
			const arguments = `{"id":9007199254740993,"price":1.10,"deep":[{"max":18446744073709551615}]}`
			var request mcp.CallToolRequest
			require.NoError(t, json.Unmarshal([]byte(`{"method":"tools/call","params":{"name":"one_alpha","arguments":`+arguments+`}}`), &request))
			_, err := session.CallTool(t.Context(), request)
			require.NoError(t, err)
			assert.Equal(t, `{"arguments":`+arguments+`,"name":"alpha"}`, paramsOf(t, last(t, server)))
		})
	})
	t.Run("arguments that were never on a wire travel as they are", func(t *testing.T) {
		t.Parallel()
		backend, server := links[0].serve(t, "one", serving("one"))
		session := build(t, &vmcp.Builder{}, backend)
		request := callOf("one_alpha")
		request.Params.Arguments = map[string]any{"id": int64(9007199254740993)}
		_, err := session.CallTool(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, `{"arguments":{"id":9007199254740993},"name":"alpha"}`, paramsOf(t, last(t, server)))
	})
	t.Run("that a task is asked for does not: the call is an ordinary one", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			backend, server := l.serve(t, "one", serving("one"))
			request := callOf("one_alpha")
			request.Params.Task = &mcp.TaskParams{}
			result, err := build(t, &vmcp.Builder{}, backend).CallTool(t.Context(), request)
			require.NoError(t, err)
			assert.Equal(t, "one", textOf(t, result))
			assert.JSONEq(t, `{"name":"alpha"}`, paramsOf(t, last(t, server)))
			assert.NotNil(t, request.Params.Task, "the caller's request is unchanged")
		})
	})
	t.Run("the headers of a request never do", func(t *testing.T) {
		t.Parallel()
		headers := http.Header{"Authorization": {"Bearer of-the-caller"}, "X-Caller": {"somebody"}, "Cookie": {"a=b"}}
		for _, l := range links[2:] {
			for _, received := range []string{"", "as received"} {
				t.Run(l.name+received, func(t *testing.T) {
					t.Parallel()
					backend, server := l.serve(t, "one", serving("one"))
					session := build(t, &vmcp.Builder{}, backend)
					call, prompt := callOf("one_alpha"), mcp.GetPromptRequest{Header: headers, Params: mcp.GetPromptParams{Name: "one_greet"}}
					read := mcp.ReadResourceRequest{Header: headers, Params: mcp.ReadResourceParams{URI: "res://one"}}
					completion := mcp.CompleteRequest{Header: headers, Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}}}
					call.Header = headers
					call.Method, prompt.Method, read.Method, completion.Method = received, received, received, received

					_, errCall := session.CallTool(t.Context(), call)
					_, errPrompt := session.GetPrompt(t.Context(), prompt)
					_, errRead := session.ReadResource(t.Context(), read)
					_, errComplete := session.Complete(t.Context(), completion)
					for _, err := range []error{errCall, errPrompt, errRead, errComplete} {
						require.NoError(t, err)
					}
					for _, request := range server.Requests() {
						for name := range headers {
							assert.Empty(t, request.Header.Get(name), "%s of %s", name, request.Method)
						}
					}
				})
			}
		}
	})
	t.Run("of _meta, what is not about the hop", func(t *testing.T) {
		t.Parallel()
		everywhere(t, metaTravels)
	})
}

func last(t *testing.T, server *badserver.Server) badserver.Request {
	t.Helper()
	requests := server.Requests()
	require.NotEmpty(t, requests)
	return requests[len(requests)-1]
}

func metaTravels(t *testing.T, l link) {
	backend, server := l.serve(t, "one", serving("one"))
	session := build(t, &vmcp.Builder{}, backend)
	meta := func() *mcp.Meta {
		return &mcp.Meta{ProgressToken: "token-of-the-caller", AdditionalFields: map[string]any{
			"traceparent":                   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"com.example/tenant":            "t1",
			"progressToken":                 "smuggled",
			mcp.MetaKeyProtocolVersion:      "1999-01-01",
			mcp.MetaKeyClientInfo:           map[string]any{"name": "the caller", "version": "9"},
			mcp.MetaKeyClientCapabilities:   map[string]any{"sampling": map[string]any{}},
			mcp.MetaKeyLogLevel:             "debug",
			"io.modelcontextprotocol/other": "x",
		}}
	}
	call := callOf("one_alpha")
	prompt := mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "one_greet", Meta: meta()}}
	read := mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "res://one", Meta: meta()}}
	call.Params.Meta = meta()
	sends := []func() error{
		func() error { _, err := session.CallTool(t.Context(), call); return err },
		func() error { _, err := session.GetPrompt(t.Context(), prompt); return err },
		func() error { _, err := session.ReadResource(t.Context(), read); return err },
	}
	for _, send := range sends {
		require.NoError(t, send())
		got := metaOf(t, last(t, server))
		want := map[string]any{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "com.example/tenant": "t1"}
		if l.protocol == modern { // the session's own
			want[mcp.MetaKeyProtocolVersion] = modern
			want[mcp.MetaKeyClientInfo] = map[string]any{"name": "candor", "version": "0.1.0"}
			want[mcp.MetaKeyClientCapabilities] = map[string]any{}
		}
		assert.Equal(t, want, got)
	}
	assert.Equal(t, meta(), call.Params.Meta, "the caller's request was changed")
	assert.Equal(t, meta(), prompt.Params.Meta, "the caller's request was changed")
	assert.Equal(t, meta(), read.Params.Meta, "the caller's request was changed")

	call.Params.Meta = &mcp.Meta{ProgressToken: 1}
	_, err := session.CallTool(t.Context(), call)
	require.NoError(t, err)
	if l.protocol == legacy {
		assert.JSONEq(t, `{"name":"alpha"}`, string(last(t, server).Params), "nothing is left of _meta")
	}
}

func TestTheCallersRequestIsNotChanged(t *testing.T) {
	t.Parallel()
	backend, _ := links[0].serve(t, "one", serving("one"))
	session := build(t, &vmcp.Builder{}, backend)
	decode := func() (request mcp.CallToolRequest) {
		require.NoError(t, json.Unmarshal([]byte(`{"method":"tools/call","params":{"name":"one_alpha","arguments":{"a":[1]},"_meta":{"x":1}}}`), &request))
		return request
	}
	request := decode()
	_, err := session.CallTool(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, decode(), request)

	ref := &mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}}}
	_, err = session.Complete(t.Context(), *ref)
	require.NoError(t, err)
	assert.Equal(t, mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}, ref.Params.Ref)
}

func TestWhatASessionReturnsCanBeChanged(t *testing.T) {
	t.Parallel()
	backend, _ := links[0].serve(t, "one", serving("one"))
	session := build(t, &vmcp.Builder{}, backend)
	session.Tools()[0].Name = "changed"
	session.Prompts()[0].Name = "changed"
	session.Resources()[0].URI = "changed"
	session.ResourceTemplates()[0].Name = "changed"
	session.Report().Backends[0].ID = "changed"
	assert.Equal(t, []string{"one_alpha", "one_beta"}, toolNames(session))
	assert.Equal(t, []string{"one_greet"}, promptNames(session))
	assert.Equal(t, []string{"res://one"}, uris(session))
	assert.Equal(t, "res://one/{id}", session.ResourceTemplates()[0].Name)
	assert.Equal(t, "one", session.Report().Backends[0].ID)
}

func TestResultsAndErrorsComeBackAsTheBackendGaveThem(t *testing.T) {
	t.Parallel()
	t.Run("a tool's own failure is a result", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			script := serving("one")
			script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultError("no such file"))}
			backend, _ := l.serve(t, "one", script)
			result, err := build(t, &vmcp.Builder{}, backend).CallTool(t.Context(), callOf("one_alpha"))
			require.NoError(t, err)
			assert.True(t, result.IsError)
			assert.Equal(t, "no such file", textOf(t, result))
		})
	})
	kinds := []struct {
		name   string
		answer badserver.Answer
		is     error
	}{
		{"-32601 of a tool", badserver.Fail(mcp.METHOD_NOT_FOUND, "sorry"), mcp.ErrMethodNotFound},
		{"-32602", badserver.Fail(mcp.INVALID_PARAMS, "sorry"), mcp.ErrInvalidParams},
		{"-32603", badserver.Fail(mcp.INTERNAL_ERROR, "sorry"), mcp.ErrInternalError},
		{"-32002", badserver.Fail(mcp.RESOURCE_NOT_FOUND, "sorry"), mcp.ErrResourceNotFound},
	}
	for _, kind := range kinds {
		t.Run("a JSON-RPC error keeps its type and gets the backend's name, "+kind.name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := serving("one")
				for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
					script.Answers[method] = []badserver.Answer{kind.answer}
				}
				backend, _ := l.serve(t, "one", script)
				session := build(t, &vmcp.Builder{}, backend)
				for _, do := range []func(context.Context, *vmcp.Session) (string, error){callTool("one_alpha"), getPrompt("one_greet"), readResource("res://one")} {
					_, err := do(t.Context(), session)
					require.ErrorIs(t, err, kind.is)
					assert.Contains(t, err.Error(), `backend "one"`)
					assert.Contains(t, err.Error(), "sorry")
				}
				assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State, "a failed call is no contradiction")
			})
		})
	}
}

func TestWhatNobodyServesIsUnknown(t *testing.T) {
	t.Parallel()
	good, server := links[0].serve(t, "good", serving("good"))
	bad, _ := links[0].serve(t, "bad", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "the database is down")))
	worse, _ := links[0].serve(t, "worse", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "the disk is full")))
	// A second one with resources, so that there is not just one.
	other, _ := links[0].serve(t, "other", serving("other"))
	session := build(t, &vmcp.Builder{}, good, bad, worse, other)
	before := len(server.Requests())

	prompt := func(name string) any { return mcp.PromptReference{Type: "ref/prompt", Name: name} }
	resource := mcp.ResourceReference{Type: "ref/resource", URI: "res://elsewhere"}
	cases := []struct {
		name       string
		do         func(context.Context, *vmcp.Session) (string, error)
		kind, what string
		blamed     []string
		says       []string
	}{
		{"a tool of a failed backend", callTool("bad_query"), "tool", "bad_query", []string{"bad"}, []string{`"bad"`, "the database is down"}},
		{"a tool of a good backend", callTool("good_gamma"), "tool", "good_gamma", nil, nil},
		{"a tool under its own name", callTool("alpha"), "tool", "alpha", nil, nil},
		{"a prompt of a failed backend", getPrompt("worse_greet"), "prompt", "worse_greet", []string{"worse"}, []string{"the disk is full"}},
		{"a prompt to complete", complete(prompt("bad_greet")), "prompt", "bad_greet", []string{"bad"}, nil},
		{"a resource, which any failed backend may have", readResource("res://elsewhere"), "resource", "res://elsewhere", []string{"bad", "worse"}, nil},
		{"a resource to complete", complete(resource), "resource", "res://elsewhere", []string{"bad", "worse"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.do(t.Context(), session)
			var blamed []string
			var unavailable *vmcp.UnavailableError
			if errors.As(err, &unavailable) { // its name says whose it would be
				assert.Equal(t, []string{c.kind, c.what}, []string{unavailable.Kind, unavailable.Name})
				blamed = []string{unavailable.Backend.ID}
			} else {
				var unknown *vmcp.UnknownError
				require.ErrorAs(t, err, &unknown)
				assert.Equal(t, []string{c.kind, c.what}, []string{unknown.Kind, unknown.Name})
				for _, backend := range unknown.Failed {
					blamed = append(blamed, backend.ID)
				}
				assert.Contains(t, err.Error(), "unknown "+c.kind)
			}
			assert.Equal(t, c.kind != "resource" && c.blamed != nil, unavailable != nil)
			assert.Equal(t, c.blamed, blamed)
			for _, says := range c.says {
				assert.Contains(t, err.Error(), says)
			}
			assert.Len(t, server.Requests(), before, "nobody was asked")
		})
	}
	t.Run("a reference that is none", func(t *testing.T) {
		t.Parallel()
		for _, ref := range []any{nil, "good_greet", &mcp.PromptReference{Name: "good_greet"}, map[string]any{"type": "ref/prompt"}} {
			_, err := complete(ref)(t.Context(), session)
			require.ErrorIs(t, err, mcp.ErrInvalidParams)
		}
	})
}

func TestResourcesOfSeveralBackends(t *testing.T) {
	t.Parallel()
	same := func(name string) badserver.Script {
		script := serving(name)
		script.Answers["resources/list"] = []badserver.Answer{badserver.Resources("res://same", "res://"+name)}
		script.Answers["resources/templates/list"] = []badserver.Answer{badserver.ResourceTemplates("tmpl://same/{id}", "tmpl://"+name+"/{id}")}
		return script
	}
	t.Run("the backend listed first serves what two have, and the other's is reported", func(t *testing.T) {
		t.Parallel()
		for _, order := range [][]string{{"one", "two"}, {"two", "one"}} {
			everywhere(t, func(t *testing.T, l link) {
				first, firstServer := l.serve(t, order[0], same(order[0]))
				second, secondServer := l.serve(t, order[1], same(order[1]))
				session := build(t, &vmcp.Builder{}, first, second)

				assert.Equal(t, []string{"res://same", "res://" + order[0], "res://" + order[1]}, uris(session))
				assert.Equal(t, []string{"tmpl://same/{id}", "tmpl://" + order[0] + "/{id}", "tmpl://" + order[1] + "/{id}"}, templates(session))
				for _, uri := range []string{"res://same", "tmpl://same/1"} {
					answer, err := readResource(uri)(t.Context(), session)
					require.NoError(t, err)
					assert.Equal(t, order[0], answer)
				}
				assert.Equal(t, 2, firstServer.Count("resources/read"))
				assert.Zero(t, secondServer.Count("resources/read"))

				assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), order[0]).State)
				report := reportOf(t, session.Report(), order[1])
				assert.Equal(t, vmcp.Degraded, report.State)
				assert.Equal(t, []vmcp.LeftOut{
					{Kind: "resource", Name: "res://same", Reason: "backend " + order[0] + " serves it already"},
					{Kind: "resource template", Name: "tmpl://same/{id}", Reason: "backend " + order[0] + " serves it already"},
				}, report.LeftOut)
				assert.Contains(t, report.Reason, "2 left out")
			})
		}
	})
	t.Run("what is listed goes before a template that matches it", func(t *testing.T) {
		t.Parallel()
		greedy := serving("greedy")
		greedy.Answers["resources/templates/list"] = []badserver.Answer{badserver.ResourceTemplates("res://{+anything}")}
		first, _ := links[0].serve(t, "greedy", greedy)
		second, _ := links[0].serve(t, "two", serving("two"))
		session := build(t, &vmcp.Builder{}, first, second)
		for uri, want := range map[string]string{"res://two": "two", "res://two/7": "greedy", "res://else": "greedy"} {
			answer, err := readResource(uri)(t.Context(), session)
			require.NoError(t, err)
			assert.Equal(t, want, answer, uri)
		}
	})
	t.Run("what nobody lists goes to the only backend with resources", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			one, _ := l.serve(t, "one", serving("one"))
			tools, _ := l.serve(t, "tools", onlyTools("run"))
			session := build(t, &vmcp.Builder{}, one, tools)
			answer, err := readResource("file:///etc/motd")(t.Context(), session)
			require.NoError(t, err)
			assert.Equal(t, "one", answer)
		})
	})
	t.Run("a backend that was forgiven does not count", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			one, _ := l.serve(t, "one", serving("one"))
			forgiven := serving("forgiven")
			forgiven.Answers["resources/list"] = []badserver.Answer{notFound(l.protocol)}
			forgiven.Answers["resources/templates/list"] = []badserver.Answer{notFound(l.protocol)}
			two, server := l.serve(t, "forgiven", forgiven)
			answer, err := readResource("file:///etc/motd")(t.Context(), build(t, &vmcp.Builder{}, one, two))
			require.NoError(t, err)
			assert.Equal(t, "one", answer)
			assert.Zero(t, server.Count("resources/read"))

			answer, err = readResource("file:///etc/motd")(t.Context(), build(t, &vmcp.Builder{}, two))
			require.NoError(t, err, "unless it is the only one that promised resources")
			assert.Equal(t, "forgiven", answer)
		})
	})
	t.Run("and to nobody where there are two", func(t *testing.T) {
		t.Parallel()
		one, _ := links[0].serve(t, "one", serving("one"))
		two, _ := links[0].serve(t, "two", serving("two"))
		_, err := readResource("file:///etc/motd")(t.Context(), build(t, &vmcp.Builder{}, one, two))
		var unknown *vmcp.UnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, `unknown resource "file:///etc/motd"`, err.Error())
	})
	t.Run("and to nobody where two were forgiven", func(t *testing.T) {
		t.Parallel()
		var backends []vmcp.Backend
		for _, id := range []string{"one", "two"} {
			script := serving(id)
			script.Answers["resources/list"] = []badserver.Answer{notFound(legacy)}
			backend, _ := links[0].serve(t, id, script)
			backends = append(backends, backend)
		}
		_, err := readResource("file:///etc/motd")(t.Context(), build(t, &vmcp.Builder{}, backends...))
		var unknown *vmcp.UnknownError
		require.ErrorAs(t, err, &unknown)
	})
	t.Run("a template that has none is reported", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			script := serving("one")
			script.Answers["resources/templates/list"] = []badserver.Answer{badserver.Result(map[string]any{"resourceTemplates": []any{
				map[string]any{"name": "hollow"}, map[string]any{"name": "good", "uriTemplate": "res://one/{id}"},
			}})}
			backend, _ := l.serve(t, "one", script)
			session := build(t, &vmcp.Builder{}, backend)
			assert.Equal(t, []string{"res://one/{id}"}, templates(session))
			assert.Equal(t, []vmcp.LeftOut{{Kind: "resource template", Name: "hollow", Reason: "it has no URI template"}}, session.Report().Backends[0].LeftOut)

			f := finding(t, audit(t, &vmcp.Builder{}, backend), "completion/complete")
			assert.Equal(t, `1 completion for the argument "id"`, f.Answer)
		})
	})
	t.Run("the same URI twice in one backend is reported", func(t *testing.T) {
		t.Parallel()
		script := serving("one")
		script.Answers["resources/list"] = []badserver.Answer{badserver.Resources("res://a", "res://a")}
		backend, _ := links[0].serve(t, "one", script)
		session := build(t, &vmcp.Builder{}, backend)
		assert.Equal(t, []string{"res://a"}, uris(session))
		assert.Equal(t, []vmcp.LeftOut{{Kind: "resource", Name: "res://a", Reason: "the server lists it twice"}}, session.Report().Backends[0].LeftOut)
	})
}

func TestAToolThatIsListedTwice(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := serving("one")
		script.Answers["tools/list"] = []badserver.Answer{badserver.Result(map[string]any{"tools": []any{
			map[string]any{"name": "run", "description": "the first", "inputSchema": map[string]any{"type": "object"}},
			map[string]any{"name": "run", "description": "the second", "inputSchema": map[string]any{"type": "object"}},
		}})}
		backend, _ := l.serve(t, "one", script)
		session := build(t, &vmcp.Builder{}, backend)
		require.Equal(t, []string{"one_run"}, toolNames(session))
		assert.Equal(t, "the first", session.Tools()[0].Description)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Equal(t, []vmcp.LeftOut{{Kind: "tool", Name: "run", Reason: "the server lists it twice"}}, report.LeftOut)
	})
}

func TestTheDeadlineOfACall(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		builder vmcp.Builder
		callers time.Duration // 0: none
		want    time.Duration
	}{
		{"5 minutes by default", vmcp.Builder{}, 0, 5 * time.Minute},
		{"as set", vmcp.Builder{CallTimeout: time.Second}, 0, time.Second},
		{"the caller's, longer", vmcp.Builder{CallTimeout: time.Second}, time.Hour, time.Hour},
		{"the caller's, shorter", vmcp.Builder{}, time.Second, time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := serving("one")
				for _, method := range []string{"tools/call", "prompts/get", "resources/read", "completion/complete"} {
					script.Answers[method] = []badserver.Answer{{Hang: true}}
				}
				backend, _ := hook(t, "one", script, nil)
				session := build(t, &c.builder, backend)
				for _, do := range []func(context.Context, *vmcp.Session) (string, error){
					callTool("one_alpha"), getPrompt("one_greet"), readResource("res://one"), complete(mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}),
				} {
					ctx, cancel := t.Context(), func() {}
					if c.callers > 0 {
						ctx, cancel = context.WithTimeout(ctx, c.callers)
					}
					began := time.Now()
					_, err := do(ctx, session)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.Equal(t, c.want, time.Since(began))
					cancel()
				}
			})
		})
	}
}

func TestAPromisedCompletionThatIsMissing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := serving("one")
		script.Answers["completion/complete"] = []badserver.Answer{notFound(l.protocol)}
		backend, _ := l.serve(t, "one", script)
		session := build(t, &vmcp.Builder{}, backend)
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		result, err := session.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}}})
		require.NoError(t, err)
		assert.Empty(t, result.Completion.Values)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State, "the report has what a later call met")
		assert.Contains(t, report.Reason, "advertises completions, but answers completion/complete")
	})
}

func TestACallThatTheSessionEndsSaysHowLongItMayTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := serving("a")
		script.Answers["tools/call"] = []badserver.Answer{hang}
		backend, _ := hook(t, "a", script, nil)
		session := build(t, &vmcp.Builder{CallTimeout: 90 * time.Second}, backend)
		_, err := session.CallTool(t.Context(), callOf("a_alpha"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `backend "a": no answer within 1m30s`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = session.CallTool(ctx, callOf("a_alpha"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotContains(t, err.Error(), "may take", "the caller's own deadline is its own affair")
	})
}
