package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
)

// answered is the kind of a call that does not fail.
const answered = "an answer"

func callKind(err error) string {
	if err == nil {
		return answered
	}
	return kindOf(nil, err)
}

// A call is a case that is about another request than a list: which links can
// carry it, what the server does with which methods, and what is owed.
type call struct {
	on      func(link) bool
	methods []string
	answer  func(realCase) badserver.Answer
	kind    string
}

func anywhere(link) bool     { return true }
func anyLegacy(w link) bool  { return !w.isModern() }
func httpLegacy(w link) bool { return w.transport == "HTTP" && !w.isModern() }
func onHTTP(w link) bool     { return w.transport == "HTTP" }
func onStdio(w link) bool    { return w.transport == "stdio" && !w.isModern() }
func onPrograms(w link) bool { return w.transport != "HTTP" && !w.isModern() }

var (
	bothHandshakes = []string{"initialize", "server/discover"}
	initialize     = []string{"initialize"}
	discover       = []string{"server/discover"}
	get            = []string{"GET"}
)

// asSaid is the answer of the case itself.
var asSaid = realCase.answer

func gone(realCase) badserver.Answer    { return badserver.Answer{Exit: true} }
func builtIn(realCase) badserver.Answer { return badserver.Answer{} }

// handshakes are the cases about how a connection comes about.
var handshakes = map[string]call{
	"D06": {anywhere, nil, nil, undecodable},
	"D07": {anywhere, nil, nil, answered},
	"D08": {anywhere, nil, nil, undecodable},
	"D09": {anywhere, nil, nil, answered},
	"D10": {anywhere, nil, nil, undecodable},
	"D13": {anywhere, nil, nil, undecodable},
	"E05": {httpLegacy, discover, asSaid, answered},
	"E17": {httpLegacy, discover, func(realCase) badserver.Answer {
		body := `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request"}}`
		return badserver.Answer{Status: 400, Body: &body, ContentType: "application/json"}
	}, answered},
	"J01": {onHTTP, get, asSaid, answered},
	"J05": {onHTTP, bothHandshakes, asSaid, unauthorized},
	"J07": {anyLegacy, discover, func(realCase) badserver.Answer { return badserver.Answer{Hang: true} }, answered},
	"K05": {onHTTP, get, asSaid, answered},
	"K06": {onHTTP, get, asSaid, answered},
	"L01": {onStdio, initialize, func(realCase) badserver.Answer { return badserver.Answer{Noise: "Server is running on stdio"} }, answered},
	"L02": {anyLegacy, initialize, func(realCase) badserver.Answer {
		return badserver.Answer{Before: []json.RawMessage{toolsChanged}}
	}, answered},
	"L03": {anyLegacy, initialize, asSaid, "error -32602"},
	"L04": {onHTTP, bothHandshakes, asSaid, "error: HTTP 405"},
	"L06": {httpLegacy, []string{"notifications/initialized"}, func(realCase) badserver.Answer { return badserver.Plain(200, "ok") }, answered},
	"L07": {onPrograms, discover, gone, answered},
	"L08": {anyLegacy, initialize, asSaid, "error -32601"},
	"L09": {httpLegacy, initialize, func(realCase) badserver.Answer {
		body := `{"jsonrpc":"2.0","jsonRpcError":{"code":-32600,"message":"Invalid message format: Unrecognized field"}}`
		return badserver.Answer{Status: 400, Body: &body, ContentType: "application/json"}
	}, "error: HTTP 400"},
	"N01": {onHTTP, bothHandshakes, asSaid, "error: HTTP 503"},
	"N02": {anywhere, bothHandshakes, gone, connectionLost},
	"N03": {anywhere, bothHandshakes, gone, connectionLost},
	"N17": {anywhere, bothHandshakes, gone, connectionLost},
	"N20": {anywhere, bothHandshakes, gone, connectionLost},
}

var toolsChanged = json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)

// greeting is the server of a case about a handshake.
func (c realCase) greeting(era string) badserver.Script {
	about := handshakes[c.ID]
	script := badserver.Script{Name: c.ID, Protocol: era, Session: true, Capabilities: c.Advertised, Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools("kept")}}}
	if string(c.Advertised) == "null" {
		script.Capabilities = json.RawMessage(`{"tools":{}}`)
	}
	switch c.ID {
	case "D13":
		script.Capabilities = json.RawMessage(`"malformed"`)
	case "D07", "D09":
		script.Capabilities = c.Advertised
	}
	for _, method := range about.methods {
		script.Answers[method] = []badserver.Answer{about.answer(c)}
	}
	return script
}

// briefly is how long a probe may stay unanswered.
const briefly = 150 * time.Millisecond

// connector gives up the probe of a server that leaves it unanswered.
func (c realCase) connector(target connect.Target) *connect.Connector {
	if c.ID == "J07" {
		return connect.To(target, connect.WithTimeouts(connect.Timeouts{Probe: briefly}))
	}
	return connect.To(target)
}

// handshakeKind is what comes of the handshake. mcp-go hides why it cannot read
// an answer to server/discover, and what its initialize is told instead has to
// do: the error says so in words.
func (c realCase) handshakeKind(w link) string {
	if kind := handshakes[c.ID].kind; kind != undecodable || !w.isModern() {
		return kind
	}
	return "error -32601"
}

var handshakePaths = map[string]func(*verdict, realCase, link){
	pathChain:   openTheChain,
	pathBuilder: openTheBuilder,
	pathCheck:   openTheCheck,
}

func openTheChain(v *verdict, c realCase, w link) {
	server := badserver.New(c.greeting(w.era))
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	opened, err := c.connector(target).Open(context.Background(), middleware.Default(log.Logger(), nil))
	assert.Equal(v, c.handshakeKind(w), callKind(err), "%v", err)
	if c.ID == "L07" { // whose first connection fails aloud
		v.heard(&log, outcome{kind: connectionLost})
	} else {
		v.heard(&log, outcome{kind: callKind(err)})
	}
	if err != nil {
		if handshakes[c.ID].kind == undecodable && w.isModern() {
			assert.ErrorContains(v, err, "the answer to server/discover cannot be used")
		}
		return
	}
	defer func() { _ = opened.Close() }()
	listed, err := tools.whole(context.Background(), opened)
	v.met(outcome{kind: "a list of kept"}, listed, err)
	assert.LessOrEqual(v, timesAsked(server, "GET"), 1, "405 to a GET is final")
}

func openTheBuilder(v *verdict, c realCase, w link) {
	target, stop := w.serve(badserver.New(c.greeting(w.era)))
	defer stop()
	backends, honest := c.fleet(target)
	defer func() { _ = honest.Close() }()
	backends[0].Connector = c.connector(target)
	var log mcptest.Journal
	session, err := (&vmcp.Builder{Logger: log.Logger()}).Build(context.Background(), backends)
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = session.Close() }()
	assert.Contains(v, exposed(session), "honest_works")
	report, _ := session.Report().Backend("case")
	assert.Equal(v, c.handshakeKind(w), callKind(report.Err))
	if report.Err != nil {
		assert.Equal(v, vmcp.Failed, report.State)
		assert.NotEmpty(v, report.Reason)
		assert.NotEmpty(v, report.Remedy)
		return
	}
	assert.Equal(v, vmcp.Ready, report.State, report.Reason)
	assert.Contains(v, exposed(session), "case_kept")
	assert.NoError(v, session.Probe(context.Background(), "case"))
	changed, err := session.Refresh(context.Background(), "case")
	assert.NoError(v, err)
	assert.False(v, changed)
}

func openTheCheck(v *verdict, c realCase, w link) {
	target, stop := w.serve(badserver.New(c.greeting(w.era)))
	defer stop()
	audits, err := (&vmcp.Builder{}).Audit(context.Background(), []vmcp.Backend{{ID: "case", Connector: c.connector(target)}})
	if !assert.NoError(v, err) || !assert.Len(v, audits, 1) {
		return
	}
	if handshakes[c.ID].kind == answered {
		assert.Empty(v, audits[0].Error)
		assert.Equal(v, vmcp.Kept, audits[0].Verdict())
		return
	}
	assert.NotEmpty(v, audits[0].Error)
	assert.Equal(v, vmcp.Broken, audits[0].Verdict())
}

// calls are the cases about single requests: what the client's caller gets.
var calls = map[string]call{
	"A16": {anyLegacy, []string{"logging/setLevel"}, asSaid, "error -32601"},
	"A18": {anywhere, []string{"resources/read"}, asSaid, "error -32601"},
	"A22": {anyLegacy, []string{"logging/setLevel"}, asSaid, answered},
	"B13": {anyLegacy, []string{"logging/setLevel"}, asSaid, "error -32601"},
	"D03": {anywhere, []string{"resources/read"}, func(realCase) badserver.Answer {
		return badserver.Result(map[string]any{"contents": []any{map[string]any{"uri": "x://1", "text": "there"}}})
	}, answered},
	"E13": {anywhere, []string{"resources/read"}, asSaid, "error -32603"},
	"J02": {anyLegacy, []string{"ping"}, asSaid, "error -32601"},
	"J03": {anyLegacy, []string{"ping"}, asSaid, "error -32603"},
	"J04": {onStdio, initialize, builtIn, "error -32600"},
	"J06": {anyLegacy, []string{"ping"}, builtIn, answered},
	"J08": {anywhere, []string{"tools/call"}, asSaid, answered},
	"J09": {anyLegacy, []string{"ping"}, asSaid, deadline},
	"J10": {anyLegacy, []string{"ping"}, asSaid, deadline},
	"X05": {httpLegacy, []string{"ping"}, asSaid, "error: HTTP 503"},
}

func (c realCase) callScript(era string) badserver.Script {
	about := calls[c.ID]
	script := badserver.Script{Name: c.ID, Protocol: era, Session: true, Capabilities: c.Advertised, Answers: map[string][]badserver.Answer{
		"tools/list": {badserver.Tools("kept")}, "resources/list": {badserver.Resources("x://1")},
		"resources/templates/list": {badserver.ResourceTemplates()}, "prompts/list": {badserver.Prompts()},
		"prompts/get": {badserver.Fail(-32602, "no such prompt")},
	}}
	if string(c.Advertised) == "null" {
		script.Capabilities = json.RawMessage(`{"tools":{}}`)
	}
	script.Answers[about.methods[0]] = []badserver.Answer{about.answer(c)}
	if c.ID == "J04" {
		script.Answers["initialize"] = []badserver.Answer{{Times: 1}, badserver.Fail(-32600, c.Answer.Message)}
	}
	return script
}

// send makes the request that a case is about.
func (c realCase) send(ctx context.Context, to client.MCPClient) error {
	var err error
	switch c.Method {
	case "initialize":
		_, err = to.Initialize(ctx, mcp.InitializeRequest{})
	case "ping":
		err = to.Ping(ctx)
	case "logging/setLevel":
		err = to.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevelWarning}})
	case "resources/read":
		_, err = to.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "x://1"}})
	case "tools/call":
		var result *mcp.CallToolResult
		if result, err = to.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "kept"}}); err == nil && !result.IsError {
			err = errors.New("isError is lost")
		}
	default:
		err = errors.New("no call for " + c.Method)
	}
	return err
}

// callTheChain makes the call on a client with the default chain: untouched,
// and no connection is lost by it.
func callTheChain(v *verdict, c realCase, w link) {
	server := badserver.New(c.callScript(w.era))
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	opened, err := connect.To(target).Open(context.Background(), middleware.Default(log.Logger(), nil))
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = opened.Close() }()
	want := calls[c.ID].kind
	ctx, done := c.untilAsked(w, server)
	defer done()
	err = c.send(ctx, opened)
	assert.Equal(v, want, callKind(err), "%v", err)
	v.heard(&log, outcome{kind: want})
	if c.ID != "J04" { // whose second handshake leaves no agreement
		listed, err := tools.whole(context.Background(), opened)
		v.met(outcome{kind: "a list of kept"}, listed, err)
	}
}

// callTheSession makes the call on a session over this backend.
func callTheSession(v *verdict, c realCase, w link) {
	server := badserver.New(c.callScript(w.era))
	target, stop := w.serve(server)
	defer stop()
	session, err := (&vmcp.Builder{}).Build(context.Background(), []vmcp.Backend{{ID: "case", Connector: connect.To(target)}})
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = session.Close() }()
	want := calls[c.ID].kind
	ctx, done := c.untilAsked(w, server)
	defer done()
	switch c.Method {
	case "initialize": // a probe must not open a second session
		assert.NoError(v, session.Probe(ctx, "case"))
		assert.Equal(v, 1, timesAsked(server, "initialize"))
	case "ping":
		if c.ID == "J02" { // who says so is alive
			want = answered
		}
		err := session.Probe(ctx, "case")
		assert.Equal(v, want, callKind(err), "%v", err)
	case "tools/call":
		result, err := session.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "case_kept"}})
		assert.NoError(v, err)
		assert.True(v, result != nil && result.IsError)
	case "resources/read":
		_, err := session.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "x://1"}})
		var unknown *vmcp.UnknownError
		if c.ID == "D03" { // one gate: what is not listed is not read either
			assert.ErrorAs(v, err, &unknown)
		} else {
			assert.Equal(v, want, callKind(err), "%v", err)
		}
	}
	report, _ := session.Report().Backend("case")
	assert.Equal(v, vmcp.Ready, report.State, report.Reason)
	if c.advertises("tools") {
		assert.Equal(v, names{"case_kept"}, exposed(session), "a call costs no tools")
	}
}

// callTheCheck looks what the audit finds about the method.
func callTheCheck(v *verdict, c realCase, w link) {
	target, stop := w.serve(badserver.New(c.callScript(w.era)))
	defer stop()
	audits, err := (&vmcp.Builder{}).Audit(context.Background(), []vmcp.Backend{{ID: "case", Connector: connect.To(target)}})
	if !assert.NoError(v, err) || !assert.Len(v, audits, 1) {
		return
	}
	i := slices.IndexFunc(audits[0].Findings, func(f vmcp.Finding) bool { return string(f.Method) == c.Method })
	verdicts := map[string]vmcp.Verdict{"A16": vmcp.Contradicted, "A18": vmcp.Contradicted, "A22": vmcp.Kept, "E13": vmcp.Broken, "J08": vmcp.NotAsked}
	if want, asked := verdicts[c.ID]; !asked {
		assert.Equal(v, -1, i, "a finding about what nobody promised")
	} else if assert.NotEqual(v, -1, i, "no finding") {
		assert.Equal(v, want, audits[0].Findings[i].Verdict, audits[0].Findings[i].Answer)
	}
}

// changes are the cases about notifications/tools/list_changed: how many come,
// and how far apart.
var changes = map[string]struct {
	times int
	every time.Duration
	most  int // refreshes
}{
	"D12": {1, 0, 1},
	"D14": {1, 0, 1},
	"K01": {60, time.Second / 3, 30},
	"K03": {200, 5 * time.Millisecond, 5},
	"K04": {1, 0, 1},
}

// whenChanged tells a session that a list changed, and changes it last.
func whenChanged(t *testing.T, v *verdict, c realCase, w link) {
	synctest.Test(t, func(t *testing.T) {
		about := changes[c.ID]
		server := badserver.New(badserver.Script{Protocol: w.era, Capabilities: c.Advertised, Answers: map[string][]badserver.Answer{
			"tools/list":               {badserver.Tools("old").Once(), badserver.Tools("new")},
			"resources/list":           {badserver.Resources()},
			"resources/templates/list": {badserver.ResourceTemplates()},
			"prompts/list":             {badserver.Prompts()},
		}})
		target, stop := w.serve(server)
		defer stop()
		session, err := (&vmcp.Builder{}).Build(t.Context(), []vmcp.Backend{{ID: "case", Connector: connect.To(target)}})
		if !assert.NoError(v, err) {
			return
		}
		defer func() { _ = session.Close() }()
		assert.Equal(v, names{"case_old"}, exposed(session))
		before := timesAsked(server, "tools/list")
		for range about.times {
			server.Notify(toolsChanged)
			<-time.After(about.every)
		}
		<-time.After(time.Minute)
		assert.Equal(v, names{"case_new"}, exposed(session), "the last change counts")
		refreshes := timesAsked(server, "tools/list") - before
		assert.Positive(v, refreshes)
		assert.LessOrEqual(v, refreshes, about.most, "too eager")
		changed, err := session.Refresh(t.Context(), "case")
		assert.NoError(v, err, "on demand")
		assert.False(v, changed)
	})
}

// otherReplays are those of a case that is not about a list.
func otherReplays(c realCase) map[string]func(*verdict, realCase, link) {
	switch {
	case handshakes[c.ID].on != nil:
		return handshakePaths
	case c.Method == "ping" || c.Method == "initialize":
		return map[string]func(*verdict, realCase, link){pathCall: callTheChain, pathProbe: callTheSession}
	case c.Method == "logging/setLevel":
		return map[string]func(*verdict, realCase, link){pathCall: callTheChain, pathCheck: callTheCheck}
	case strings.HasPrefix(c.Method, "notifications/") || calls[c.ID].on == nil:
		return nil
	default:
		return map[string]func(*verdict, realCase, link){pathCall: callTheChain, pathBuilder: callTheSession, pathCheck: callTheCheck}
	}
}

func (c realCase) carriedBy(w link) bool {
	if about, ok := handshakes[c.ID]; ok {
		return about.on(w)
	}
	return calls[c.ID].on(w)
}
