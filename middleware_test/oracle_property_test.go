package middleware_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTheChainAndTheOracleAgree plays random scripts to a client with the
// default chain, and wants of each call what the oracle says.
func TestTheChainAndTheOracleAgree(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		for name, http := range map[string]bool{"in-process": false, "HTTP": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(rt *rapid.T) {
					s := someScene(rt, era == modern, http)
					require.Equal(rt, s.rulings(), s.play(t, rt), "%+v", s)
				})
			})
		}
	})
}

// TestEveryRowOfTheOracleIsReached: a rule that no script reaches is not tested.
func TestEveryRowOfTheOracleIsReached(t *testing.T) {
	t.Parallel()
	reached := map[string]int{}
	for seed := range 200 {
		s := rapid.Custom(func(rt *rapid.T) scene { return someScene(rt, seed%2 == 0, seed%4 < 2) }).Example(seed)
		s.reached = func(rule string) { reached[rule]++ }
		s.rulings()
	}
	for _, row := range wireRules {
		assert.Positive(t, reached[row.rule], row.rule)
	}
	for _, row := range toleranceRules {
		assert.Positive(t, reached[row.rule], row.rule)
	}
}

func someScene(t *rapid.T, modern, http bool) scene {
	s := scene{modern: modern, http: http, capabilities: somePromises(t), replies: map[string][]sceneReply{}}
	s.session = http && !modern && rapid.Bool().Draw(t, "session")
	s.utilities = rapid.Bool().Draw(t, "utilities")
	methods := []string{"completion/complete"}
	if !modern { // which sends neither of them
		methods = append(methods, "logging/setLevel", "resources/subscribe")
	}
	for _, method := range methods {
		s.replies[method] = []sceneReply{someSceneReply(t, method, 0, http)}
	}
	for _, l := range lists {
		methods = append(methods, l.method, l.method) // they are what the rule is about
		last := rapid.IntRange(0, 2).Draw(t, "last page")
		for page := range last + 1 {
			r := someSceneReply(t, l.method, page, http)
			if page < last && rapid.Bool().Draw(t, "come so far") {
				r = sceneReply{shape: shapeList, entries: names{fmt.Sprintf("e%d", page)}}
			}
			s.replies[l.method] = append(s.replies[l.method], r)
		}
	}
	focus := rapid.SampledFrom(lists).Draw(t, "most of all").method // so that things happen again
	for range 8 {
		methods = append(methods, focus)
	}
	for range rapid.IntRange(1, 8).Draw(t, "calls") {
		a := sceneCall{method: rapid.SampledFrom(methods).Draw(t, "method"), whole: rapid.Bool().Draw(t, "whole")}
		a.page = max(0, rapid.IntRange(-2, len(s.replies[a.method])-1).Draw(t, "page"))
		s.asks = append(s.asks, a)
	}
	return s
}

// somePromises is the raw JSON of a handshake's capabilities.
func somePromises(t *rapid.T) string {
	members := []string{`"experimental":{"tools":{}},"toString":null`}
	for _, capability := range []string{"tools", "resources", "prompts", "completions", "logging"} {
		promise := rapid.SampledFrom([]string{"", "null", "{}", "{}", `{"listChanged":true}`, `{"listChanged":true}`, `{"listChanged":false,"unknown":{"x":[1]}}`}).Draw(t, capability)
		if promise != "" {
			members = append(members, fmt.Sprintf("%q:%s", capability, promise))
		}
	}
	all := "{" + strings.Join(members, ",") + "}"
	return rapid.SampledFrom([]string{all, all, all, all, all, all, all, all, "", "null"}).Draw(t, "capabilities")
}

var sceneMessages = []string{"Method not found", "method not found: -32601", "", "no"}

func someSceneReply(t *rapid.T, method string, page int, http bool) sceneReply {
	shapes := []string{shapeError, shapeError, shapeError, shapeUnknown, shapeText, shapePlain, shapeCut, shapeSilent}
	if _, isList := listNamed(method); isList {
		shapes = append(shapes, shapeList, shapeList, shapeList, shapeList, shapeNoList, shapeNoList, shapeNoList, shapeGarbage)
	} else {
		shapes = append(shapes, shapeFine)
	}
	r := sceneReply{shape: rapid.SampledFrom(shapes).Draw(t, "shape"), message: rapid.SampledFrom(sceneMessages).Draw(t, "message")}
	switch r.shape {
	case shapeList:
		r.entries = names{}
		for i := range rapid.IntRange(0, 3).Draw(t, "entries") {
			r.entries = append(r.entries, fmt.Sprintf("e%d_%d", page, i))
		}
	case shapeNoList:
		r.raw = rapid.SampledFrom([]string{`{}`, `null`, `{"tools":null,"resources":null,"resourceTemplates":null,"prompts":null}`, `{"error":{"code":-32601,"message":"Method not found"}}`}).Draw(t, "result")
	case shapeGarbage:
		r.raw = rapid.SampledFrom([]string{`7`, `"Method not found"`, `[]`, `true`, `{"tools":{},"resources":7,"resourceTemplates":"x","prompts":{}}`}).Draw(t, "result")
	case shapeFine:
		if r.raw = `{}`; method == "completion/complete" {
			r.raw, r.entries = `{"completion":{"values":["a"]}}`, names{"a"}
		}
	case shapePlain:
		r.raw = rapid.SampledFrom([]string{"Method not found", "<html>-32601</html>", ""}).Draw(t, "body")
	case shapeError:
		r.code = -32601
		if rapid.Bool().Draw(t, "another code") {
			r.code = rapid.SampledFrom([]int{-32600, -32602, -32603, -32700, -32800, -32000, -32001, -32002, -32099, -326010, 0, 1, 404, 32601}).Draw(t, "code")
		}
	}
	if !http || r.shape == shapeCut || r.shape == shapeSilent || r.shape == shapeUnknown {
		return r
	}
	r.status = rapid.SampledFrom([]int{0, 0, 0, 0, 400, 401, 403, 404, 404, 409, 429, 500, 501, 502, 503}).Draw(t, "status")
	r.foreign = r.status == 404 && rapid.Bool().Draw(t, "another id")
	r.stream = r.status == 0 && r.shape != shapePlain && rapid.Bool().Draw(t, "event stream")
	return r
}

func listNamed(method string) (list, bool) {
	for _, l := range lists {
		if l.method == method {
			return l, true
		}
	}
	return list{}, false
}

func sceneCursor(page int) string {
	if page == 0 {
		return ""
	}
	return fmt.Sprintf("page %d", page)
}

// answer is a reply as badserver gives it; an unknown method has none.
func (r sceneReply) answer(method string, page int, last bool) []badserver.Answer {
	var a badserver.Answer
	next := ""
	if !last {
		next = sceneCursor(page + 1)
	}
	switch r.shape {
	case shapeUnknown:
		return nil
	case shapeList:
		l, _ := listNamed(method)
		a.Result = json.RawMessage(l.of(next, r.entries...))
	case shapeNoList:
		if a.Result = json.RawMessage(r.raw); next != "" {
			a.Result = json.RawMessage(fmt.Sprintf(`{"nextCursor":%q}`, next))
		}
	case shapeGarbage, shapeFine:
		a.Result = json.RawMessage(r.raw)
	case shapeError:
		a = badserver.Fail(r.code, r.message)
	case shapeText:
		a.ErrorText = cmp.Or(r.message, "Method not found")
	case shapePlain:
		a = badserver.Plain(r.status, r.raw)
	case shapeCut:
		a.Cut = true
	case shapeSilent:
		a.Hang = true
	}
	a.Status, a.SSE = r.status, r.stream
	if r.foreign {
		a.ID = json.RawMessage(`"another"`)
	}
	return []badserver.Answer{a.AtCursor(sceneCursor(page))}
}

func (s scene) server() *badserver.Server {
	played := badserver.Script{Protocol: legacy, Session: s.session, Capabilities: json.RawMessage(s.capabilities), Answers: map[string][]badserver.Answer{}}
	if s.modern {
		played.Protocol = modern
	}
	for method, replies := range s.replies {
		for page, r := range replies {
			played.Answers[method] = append(played.Answers[method], r.answer(method, page, page == len(replies)-1)...)
		}
	}
	return badserver.New(played)
}

// play has a client make the calls, and returns what came of each.
func (s scene) play(outer testing.TB, t *rapid.T) []ruling {
	server := s.server()
	defer server.Close()
	var target connect.Target = server
	if s.http {
		endpoint := httptest.NewServer(server)
		defer endpoint.Close()
		defer server.Close()
		target = connect.HTTP{URL: endpoint.URL}
	}
	var log mcptest.Journal
	var opts []middleware.Option
	if s.utilities {
		opts = append(opts, middleware.WithUtilities())
	}
	// The verification would ask for a list itself, and have the first WARN.
	c, err := connect.To(target).OpenVerifying(t.Context(), unverified, middleware.Default(log.Logger(), nil, opts...))
	require.NoError(t, err)
	defer func() { _ = c.Close() }() // of a session that is gone
	log.Drain()

	var all []ruling
	for _, a := range s.asks {
		before := server.Count(a.method)
		entries, err := s.call(t, server, c, a, before)
		got := rulingOf(t, entries, err)
		got.requests = server.Count(a.method) - before
		got.said = saidOf(t, log.Take())
		all = append(all, got)
	}
	return all
}

// call makes one call, and gives up once the server is silent.
func (s scene) call(t *rapid.T, server *badserver.Server, c client.MCPClient, a sceneCall, before int) (names, error) {
	ctx, cancel := context.WithCancel(t.Context())
	for page, r := range s.replies[a.method][a.page:] {
		if r.shape == shapeSilent && (a.whole || page == 0) {
			given := make(chan struct{})
			go func() {
				defer close(given)
				if server.Await(ctx, a.method, before+page+1) == nil {
					cancel()
				}
			}()
			defer func() { <-given }()
			break
		}
	}
	defer cancel()
	return sceneMethods[a.method](ctx, c, a.whole, mcp.Cursor(sceneCursor(a.page)))
}

// methods call the methods of the rule.
var sceneMethods = map[string]func(ctx context.Context, c client.MCPClient, whole bool, cursor mcp.Cursor) (names, error){
	"tools/list":               listMethod(client.MCPClient.ListTools, client.MCPClient.ListToolsByPage, func(r *mcp.ListToolsRequest) *mcp.PaginatedParams { return &r.Params }, ofTools),
	"resources/list":           listMethod(client.MCPClient.ListResources, client.MCPClient.ListResourcesByPage, func(r *mcp.ListResourcesRequest) *mcp.PaginatedParams { return &r.Params }, ofResources),
	"resources/templates/list": listMethod(client.MCPClient.ListResourceTemplates, client.MCPClient.ListResourceTemplatesByPage, func(r *mcp.ListResourceTemplatesRequest) *mcp.PaginatedParams { return &r.Params }, ofTemplates),
	"prompts/list":             listMethod(client.MCPClient.ListPrompts, client.MCPClient.ListPromptsByPage, func(r *mcp.ListPromptsRequest) *mcp.PaginatedParams { return &r.Params }, ofPrompts),
	"completion/complete": func(ctx context.Context, c client.MCPClient, _ bool, _ mcp.Cursor) (names, error) {
		result, err := c.Complete(ctx, mcp.CompleteRequest{})
		if err != nil {
			return nil, err
		}
		return result.Completion.Values, nil
	},
	"logging/setLevel": func(ctx context.Context, c client.MCPClient, _ bool, _ mcp.Cursor) (names, error) {
		return nil, c.SetLevel(ctx, mcp.SetLevelRequest{})
	},
	"resources/subscribe": func(ctx context.Context, c client.MCPClient, _ bool, _ mcp.Cursor) (names, error) {
		return nil, c.Subscribe(ctx, mcp.SubscribeRequest{})
	},
}

func listMethod[Req, Res any](whole, page func(client.MCPClient, context.Context, Req) (*Res, error), params func(*Req) *mcp.PaginatedParams, of func(*Res) names) func(context.Context, client.MCPClient, bool, mcp.Cursor) (names, error) {
	return func(ctx context.Context, c client.MCPClient, all bool, cursor mcp.Cursor) (names, error) {
		request := new(Req)
		params(request).Cursor = cursor
		call := page
		if all {
			call = whole
		}
		result, err := call(c, ctx, *request)
		if err != nil {
			return nil, err
		}
		return of(result), nil
	}
}

// outcomeOf puts what a call returned in the oracle's words.
func rulingOf(t *rapid.T, entries names, err error) ruling {
	got := ruling{entries: entries, failure: classOf(err)}
	var broken *middleware.ContradictionError
	if errors.As(err, &broken) {
		got.broken = broken.Event
	}
	var partial *middleware.PartialListError
	if errors.As(err, &partial) {
		got.received = partialEntries(t, partial.Received)
	}
	return got
}

// classOf finds every class that an error is of; more than one is a mistake
// that shows.
func classOf(err error) string {
	if err == nil {
		return ""
	}
	var classes []string
	for _, class := range []struct {
		target error
		name   string
	}{
		{mcp.ErrParseError, "-32700"},
		{mcp.ErrInvalidRequest, "-32600"},
		{mcp.ErrMethodNotFound, classMethodNotFound},
		{mcp.ErrInvalidParams, "-32602"},
		{mcp.ErrInternalError, "-32603"},
		{mcp.ErrRequestInterrupted, "-32800"},
		{mcp.ErrResourceNotFound, "-32002"},
		{transport.ErrSessionTerminated, classGone},
		{transport.ErrAuthorizationRequired, classUnauthorized},
		{context.Canceled, classCancelled},
		{middleware.ErrMalformedList, classMalformed},
	} {
		if errors.Is(err, class.target) {
			classes = append(classes, class.name)
		}
	}
	var status *wire.StatusError
	if errors.As(err, &status) {
		classes = append(classes, fmt.Sprintf("HTTP %d", status.StatusCode))
	}
	return cmp.Or(strings.Join(classes, " and "), classOther)
}

func partialEntries(t *rapid.T, received any) names {
	switch list := received.(type) {
	case *mcp.ListToolsResult:
		return ofTools(list)
	case *mcp.ListResourcesResult:
		return ofResources(list)
	case *mcp.ListResourceTemplatesResult:
		return ofTemplates(list)
	case *mcp.ListPromptsResult:
		return ofPrompts(list)
	}
	t.Fatalf("received a %T", received)
	return nil
}

// saidOf is what was logged about contradictions, and nothing is louder than a
// WARN.
func saidOf(t *rapid.T, records []mcptest.Record) []string {
	var said []string
	for _, r := range records {
		require.NotEqual(t, "ERROR", r["level"])
		if event, ok := r["event"]; ok {
			said = append(said, fmt.Sprintf("%s %s", r["level"], event))
		}
	}
	return said
}
