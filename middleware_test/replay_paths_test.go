package middleware_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The paths on which the library asks for lists.
const (
	pathChain    = "chain"
	pathBuilder  = "builder"
	pathRefresh  = "refresh"
	pathNotified = "list_changed"
	pathProbe    = "probe"
	pathCheck    = "check"
	pathCall     = "call" // not a list: the call that the case is about
)

var paths = []string{pathChain, pathBuilder, pathRefresh, pathNotified, pathProbe, pathCheck, pathCall}

// handshakeTimeout is what a backend gets in which a handshake has to be done before
// what never comes.
const handshakeTimeout = 3 * time.Second

// listPaths replay a case about a list over a link.
var listPaths = map[string]func(*verdict, realCase, link){
	pathChain:   throughTheChain,
	pathBuilder: throughTheBuilder,
	pathRefresh: throughARefresh,
	pathProbe:   besideAProbe,
	pathCheck:   throughTheCheck,
}

// unverified connects without a request of its own: the list is the first.
func unverified(context.Context, *mcpclient.Client) error { return nil }

// throughTheChain calls the list on a client with the default chain, and then
// another one: a connection that still works must not be lost.
func throughTheChain(v *verdict, c realCase, w link) {
	l, _ := c.list()
	server := badserver.New(c.script(w.era, false))
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	opened, err := connect.To(target).OpenVerifying(context.Background(), unverified, middleware.Default(log.Logger(), nil))
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = opened.Close() }()
	want := c.owed(w)
	ctx, done := c.untilAsked(w, server)
	defer done()
	got, err := l.whole(ctx, opened)
	v.met(want, got, err)
	v.heard(&log, want)
	if want.lost() {
		return
	}
	if want.kind == emptyList {
		again, err := l.whole(context.Background(), opened)
		v.met(want, again, err)
		v.heard(&log, outcome{}) // not aloud again
	}
	if l.method != "tools/list" {
		kept, err := tools.whole(context.Background(), opened)
		v.met(outcome{kind: "a list of kept"}, kept, err)
	}
}

// silent says whether no answer ever gets to the client: on stdio, where only
// the id tells which request a line answers, what cannot be paired is none.
func (c realCase) silent(w link) bool {
	return c.hangs() || w.transport == "stdio" && (c.ID == "F04" || c.ID == "L05")
}

// untilAsked is a context whose deadline passes once the server has been asked
// for what it never answers, and no other.
func (c realCase) untilAsked(w link, server *badserver.Server) (context.Context, context.CancelFunc) {
	waiting, stop := context.WithCancel(context.Background())
	if !c.silent(w) {
		return waiting, stop
	}
	asked := server.Count(c.Method) + 1
	if c.Cursor != "" {
		asked++
	}
	e := expiring{Context: context.Background(), passed: make(chan struct{})}
	go func() {
		if server.Await(waiting, c.Method, asked) == nil {
			close(e.passed)
		}
	}()
	return e, stop
}

// expiring is a context with a deadline that is an event.
type expiring struct {
	context.Context
	passed chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.passed }

func (e expiring) Err() error {
	select {
	case <-e.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// fleet is the backend of the case beside an honest one.
func (c realCase) fleet(target connect.Target) ([]vmcp.Backend, *badserver.Server) {
	honest := badserver.New(badserver.Script{Capabilities: []byte(`{"tools":{}}`), Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools("works")}}})
	return []vmcp.Backend{
		{ID: "case", Connector: connect.To(target)},
		{ID: "honest", Connector: connect.To(honest)},
	}, honest
}

func (c realCase) builder(log *mcptest.Journal, w link) *vmcp.Builder {
	b := &vmcp.Builder{Logger: log.Logger()}
	if c.silent(w) {
		b.Timeout = handshakeTimeout
	}
	return b
}

// promised says whether the handshake promises the list of the case: vmcp asks
// for no other.
func (c realCase) promised() bool {
	l, _ := c.list()
	return c.advertises(l.capability)
}

// throughTheBuilder builds a session: a failure costs that backend alone.
func throughTheBuilder(v *verdict, c realCase, w link) {
	server := badserver.New(c.script(w.era, false))
	target, stop := w.serve(server)
	defer stop()
	backends, honest := c.fleet(target)
	defer func() { _ = honest.Close() }()
	var log mcptest.Journal
	session, err := c.builder(&log, w).Build(context.Background(), backends)
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = session.Close() }()
	want := c.owed(w)
	if !c.promised() {
		want = outcome{}
		assert.Zero(v, timesAsked(server, c.Method), "asked for what nobody promised")
	}
	v.heard(&log, want)
	names := exposed(session)
	assert.Contains(v, names, "honest_works")
	report, _ := session.Report().Backend("case")
	if want.failed() {
		assert.Equal(v, vmcp.Failed, report.State)
		v.met(want, nil, report.Err)
		assert.NotEmpty(v, report.Reason)
		assert.NotEmpty(v, report.Remedy)
		return
	}
	assert.NotEqual(v, vmcp.Failed, report.State, report.Reason)
	if c.Method != "tools/list" && c.advertises("tools") {
		assert.Contains(v, names, "case_kept", "the tools are lost")
	}
	if c.promised() {
		v.shown(c, want, report)
	}
}

// shown asserts what the report tells of a list that did not fail.
func (v *verdict) shown(c realCase, want outcome, report vmcp.BackendReport) {
	if want.event != "" {
		assert.Equal(v, vmcp.Degraded, report.State)
		if assert.Len(v, report.Contradictions, 1) {
			assert.Equal(v, want.event, report.Contradictions[0].Event)
			assert.Equal(v, c.Method, string(report.Contradictions[0].Method))
		}
		return
	}
	assert.Empty(v, report.Contradictions)
	offered := map[string]int{
		"tools/list": report.Tools, "resources/list": report.Resources,
		"resources/templates/list": report.ResourceTemplates, "prompts/list": report.Prompts,
	}[c.Method]
	entries := 0
	if want.kind != emptyList {
		entries = 1 + strings.Count(want.kind, ", ")
	}
	assert.Equal(v, entries, offered)
}

func exposed(session *vmcp.Session) names {
	return namesOf(session.Tools(), func(tool mcp.Tool) string { return tool.Name })
}

func timesAsked(server *badserver.Server, method string) int {
	asked := 0
	for _, request := range server.Requests() {
		if request.Method == method {
			asked++
		}
	}
	return asked
}

// throughARefresh builds a session while all is well; then the list is asked
// for again. A failure costs none of what the session had.
func throughARefresh(v *verdict, c realCase, w link) {
	server := badserver.New(c.script(w.era, true))
	refreshed(v, c, w, server, func(session *vmcp.Session) error {
		ctx, done := c.untilAsked(w, server)
		defer done()
		_, err := session.Refresh(ctx, "case")
		return err
	})
}

func refreshed(v *verdict, c realCase, w link, server *badserver.Server, refresh func(*vmcp.Session) error) {
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	session, err := (&vmcp.Builder{Logger: log.Logger()}).Build(context.Background(), []vmcp.Backend{{
		ID: "case", Connector: connect.To(target), Breaker: vmcp.Breaker{Failures: 1_000}, // what is told of one failure
	}})
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = session.Close() }()
	v.heard(&log, outcome{})
	before := exposed(session)
	want := c.owed(w)
	err = refresh(session)
	report, _ := session.Report().Backend("case")
	switch {
	case !c.promised():
		assert.NoError(v, err)
		assert.Zero(v, timesAsked(server, c.Method), "asked for what nobody promised")
		v.heard(&log, outcome{})
	case want.failed():
		v.met(want, nil, err)
		v.heard(&log, want)
		assert.Equal(v, before, exposed(session), "what was there before")
		if errors.Is(err, transport.ErrTransportClosed) || errors.Is(err, transport.ErrSessionTerminated) {
			return // the connection is made anew: how that ends is another story
		}
		assert.Equal(v, vmcp.Degraded, report.State)
		assert.Contains(v, report.Reason, "its lists are old")
	default:
		assert.NoError(v, err)
		v.heard(&log, want)
		v.shown(c, want, report)
	}
}

// whenNotified is the refresh that a session makes of itself when the server
// says that a list changed. The time is that of a bubble.
func whenNotified(t *testing.T, v *verdict, c realCase, w link) {
	synctest.Test(t, func(t *testing.T) {
		server := badserver.New(c.script(w.era, true))
		refreshed(v, c, w, server, func(session *vmcp.Session) error {
			asked := len(server.Requests())
			server.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/` + notified(c.Method) + `/list_changed"}`))
			<-time.After(500 * time.Millisecond) // before the session tries again what failed
			synctest.Wait()
			requests := server.Requests()[asked:]
			refreshes := slices.ContainsFunc(requests, func(r badserver.Request) bool { return r.Method == c.Method })
			assert.Equal(v, c.promised(), refreshes, "the list is asked for again if it was promised")
			_, err := session.Refresh(t.Context(), "case")
			return err
		})
	})
}

// notified is the kind of list that a method belongs to.
func notified(method string) string {
	kind, _, _ := strings.Cut(method, "/")
	return kind
}

// besideAProbe asks a session's backend whether it is alive, after a first
// healthy list. On the older protocols no list has a part in that; on
// 2026-07-28, which has no ping, the first page of the tools is asked for.
func besideAProbe(v *verdict, c realCase, w link) {
	server := badserver.New(c.script(w.era, true))
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	session, err := (&vmcp.Builder{Logger: log.Logger()}).Build(context.Background(), []vmcp.Backend{{ID: "case", Connector: connect.To(target)}})
	if !assert.NoError(v, err) {
		return
	}
	defer func() { _ = session.Close() }()
	before, asked := exposed(session), timesAsked(server, c.Method)
	ctx, done := c.untilAsked(w, server)
	defer done()
	err = session.Probe(ctx, "case")
	assert.Equal(v, before, exposed(session), "a probe costs no list")
	probed := w.isModern() && c.Method == "tools/list" && c.promised()
	if !probed {
		assert.NoError(v, err)
		v.heard(&log, outcome{})
		assert.Equal(v, asked, timesAsked(server, c.Method), "a list that a server may lack is no probe")
		return
	}
	want := c.owed(w)
	if want.failed() && !afterTheFirstPage(c) {
		v.met(want, nil, err)
		v.heard(&log, want)
	} else {
		assert.NoError(v, err)
	}
}

// afterTheFirstPage says whether the first page of a list that fails is fine.
func afterTheFirstPage(c realCase) bool { return c.Cursor != "" }

// throughTheCheck audits the server as `vmcp check` does.
func throughTheCheck(v *verdict, c realCase, w link) {
	server := badserver.New(c.script(w.era, false))
	target, stop := w.serve(server)
	defer stop()
	var log mcptest.Journal
	audits, err := c.builder(&log, w).Audit(context.Background(), []vmcp.Backend{{ID: "case", Connector: connect.To(target)}})
	if !assert.NoError(v, err) || !assert.Len(v, audits, 1) {
		return
	}
	i := slices.IndexFunc(audits[0].Findings, func(f vmcp.Finding) bool { return string(f.Method) == c.Method })
	if !c.promised() {
		assert.Equal(v, -1, i, "a finding about what nobody promised")
		assert.Zero(v, timesAsked(server, c.Method))
		return
	}
	if !assert.NotEqual(v, -1, i, "no finding") {
		return
	}
	want, finding := c.owed(w), audits[0].Findings[i]
	switch {
	case want.event != "":
		assert.Equal(v, vmcp.Contradicted, finding.Verdict, finding.Answer)
	case want.failed():
		assert.Equal(v, vmcp.Broken, finding.Verdict, finding.Answer)
		assert.Contains(v, finding.Answer, want.words)
	default:
		assert.Equal(v, vmcp.Kept, finding.Verdict, finding.Answer)
	}
}

// theCase is a case by its id.
func theCase(t testing.TB, id string) realCase {
	t.Helper()
	cases := realCases(t)
	i := slices.IndexFunc(cases, func(c realCase) bool { return c.ID == id })
	require.NotEqual(t, -1, i, id)
	return cases[i]
}
