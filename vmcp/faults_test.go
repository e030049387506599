package vmcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const late = "did not answer in time"

var hang = badserver.Answer{Hang: true}

// faults are ways to fail that take time, or happen beneath the protocol; the
// others are in failures.
func faults(p *programs) []failure {
	sse, stdio := ways[4], ways[5]
	return []failure{
		{"a port that takes all and says nothing", speaking(""), late},
		{"a port that speaks something else", speaking("SSH-2.0-OpenSSH_9.6\r\n"), "malformed HTTP"},
		{"TLS on a plain port", atServer(httptest.NewServer, "https"), "begin the URL with http://"},
		{"a certificate that nobody trusts", atServer(httptest.NewTLSServer, "https"), "the certificate is not trusted"},
		{"redirects in a circle", handledBy(redirect("/mcp")), "10 redirects"},
		{"a redirect to where nobody listens", handledBy(redirect("http://" + nowhere + "/mcp")), "check the address"},
		{"nothing but 500", everything(badserver.Plain(500, "out of order")), "out of order"},
		{"a 503 with JSON", everything(badserver.Answer{Status: 503, Body: new(`{"status":"warming up"}`)}), "warming up"},
		{"silence at server/discover", plays("server/discover", hang), late},
		{"silence at initialize", plays("initialize", hang), late},
		{"silence at notifications/initialized", plays("notifications/initialized", hang), late},
		{"silence at tools/list", ways[3].playing(answering("tools/list", hang), p), late},
		{"silence at resources/list", ways[0].playing(answering("resources/list", hang), p), late},
		{"silence at prompts/list", ways[1].playing(answering("prompts/list", hang), p), late},
		{"silence from tools/list to the DELETE of the session", ways[2].playing(forgetful(), p), late},
		{"a body that never ends", handledBy(endless), late},
		{"pages that never end", handledBy(endlessPages), "tools/list failed after"},
		{"more than anybody reads", tooMuch, "server sent more than 1024 bytes"},
		{"the answer to another request", sse.playing(answering("tools/list", withID(badserver.Tools("a"))), p), late},
		{"tools that are none", plays("tools/list", badserver.Result(map[string]any{"tools": []string{"a"}})), "tools/list"},
		{"a protocol that is unsupported in both eras", everything(badserver.Unsupported()), "protocol version"},
		{"an event stream that is never opened", sse.playing(answering("GET", hang), p), late},
		{"an event stream without an endpoint", streamedBy(endless), late},
		{"no event stream", streamedBy(http.NotFound), "speaks streamable HTTP"},
		{"a command without permission", unexecutable, "make the command executable"},
		{"a working directory that is none", fixed(connect.Stdio{Command: "x", Dir: "/no/such/directory"}), "check the working directory"},
		{"a program that exits at initialize", stdio.playing(answering("initialize", badserver.Answer{Exit: true}), p), "the server ended"},
		{"a program that breaks off in the middle of tools/list", stdio.playing(answering("tools/list", badserver.Answer{Result: badserver.Tools("a").Result, Cut: true}), p), "the server ended"},
		{"a program that talks nonsense", stdio.playing(answering("initialize", badserver.Answer{Body: new("Welcome!")}), p), late},
		{"a program that says nothing and has to be killed", func(t *testing.T) connect.Target {
			return p.stubborn(t, answering("initialize", hang))
		}, late},
	}
}

// way is a transport to a scripted server, with a way to wait until the server
// got the nth request of a method.
type way struct {
	name  string
	serve func(*testing.T, badserver.Script, *programs) (target connect.Target, await func(method string, n int))
}

var ways = []way{
	linked(links[0]), linked(links[1]), linked(links[2]), linked(links[3]),
	{"sse", func(t *testing.T, script badserver.Script, _ *programs) (connect.Target, func(string, int)) {
		s := badserver.New(script)
		endpoint := httptest.NewServer(s.SSE())
		t.Cleanup(func() { _ = s.Close(); endpoint.Close() })
		return connect.SSE{URL: endpoint.URL + "/sse"}, awaiting(t, s)
	}},
	{"stdio", func(t *testing.T, script badserver.Script, p *programs) (connect.Target, func(string, int)) {
		return p.stdio(t, script), func(method string, n int) { p.await(t, asking(method, n)) }
	}},
}

func linked(l link) way {
	return way{l.name, func(t *testing.T, script badserver.Script, _ *programs) (connect.Target, func(string, int)) {
		script.Protocol = l.protocol
		s := badserver.New(script)
		return l.target(t, s), awaiting(t, s)
	}}
}

func awaiting(t *testing.T, s *badserver.Server) func(string, int) {
	return func(method string, n int) { require.NoError(t, s.Await(soon(t), method, n), method) }
}

func (w way) playing(script badserver.Script, p *programs) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		target, _ := w.serve(t, script, p)
		return target
	}
}

// forgetful is a server that begins a session and does not end it.
func forgetful() badserver.Script {
	script := answering("tools/list", hang)
	script.Session = true
	script.Answers["DELETE"] = []badserver.Answer{hang}
	return script
}

func withID(answer badserver.Answer) badserver.Answer {
	answer.ID = []byte("987654")
	return answer
}

// speaking is a port where every client is told something, and nothing more.
func speaking(text string) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		var serving sync.WaitGroup
		serving.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				serving.Go(func() { speak(conn, text) })
			}
		})
		t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
		return connect.HTTP{URL: "http://" + listener.Addr().String() + "/mcp"}
	}
}

// speak answers the first request with the text, and ends with the client.
func speak(conn net.Conn, text string) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	if _, err := http.ReadRequest(reader); err != nil {
		return
	}
	_, _ = io.WriteString(conn, text)
	_, _ = io.Copy(io.Discard, reader)
}

// atServer is an honest server that is reached in the wrong way.
func atServer(start func(http.Handler) *httptest.Server, scheme string) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		endpoint := start(badserver.New(honest()))
		endpoint.Config.ErrorLog = log.New(io.Discard, "", 0)
		t.Cleanup(endpoint.Close)
		return connect.HTTP{URL: scheme + "://" + endpoint.Listener.Addr().String() + "/mcp"}
	}
}

func handledBy(handler http.HandlerFunc) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		endpoint := httptest.NewServer(handler)
		t.Cleanup(endpoint.Close)
		return connect.HTTP{URL: endpoint.URL + "/mcp"}
	}
}

func streamedBy(handler http.HandlerFunc) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		return connect.SSE{URL: handledBy(handler)(t).(connect.HTTP).URL}
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}
}

// endless begins an answer and leaves it at that, until the client gives up.
func endless(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not see the client leave
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(w, `{"jsonrpc":`)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// endlessPages is a server whose list always goes on, at another cursor.
func endlessPages(w http.ResponseWriter, r *http.Request) {
	served := badserver.New(answering("tools/list", badserver.Tools().WithNext(strconv.FormatInt(time.Now().UnixNano(), 36))))
	served.ServeHTTP(w, r)
}

// tooMuch is a server whose answers are longer than the client allows.
func tooMuch(t *testing.T) connect.Target {
	target := everything(badserver.Result(map[string]any{"padding": fmt.Sprintf("%2000s", "")}))(t).(connect.HTTP)
	base := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(base.CloseIdleConnections)
	target.RoundTripper = &wire.Transport{Base: base, MaxBody: 1024}
	return target
}

func unexecutable(t *testing.T) connect.Target {
	file := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600))
	return connect.Stdio{Command: file}
}

// TestThirtySlowFaultsCostTheOthersNothing is not parallel: it is about time.
func TestThirtySlowFaultsCostTheOthersNothing(t *testing.T) {
	p := newPrograms(t)
	every := faults(p)
	require.Len(t, every, 30)
	var backends []vmcp.Backend
	broken := map[string]failure{}
	add := func(id string, target connect.Target) {
		backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(target, connect.WithTimeouts(connect.Timeouts{Probe: time.Minute}))})
	}
	for i := range 100 {
		id := fmt.Sprintf("b%02d", i)
		if n := len(broken); i%10 < 3 {
			broken[id] = every[n]
			add(id, every[n].target(t))
			continue
		}
		script := onlyTools("run")
		script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText(id))}
		kind := ways[i%len(links)]
		switch {
		case i%10 == 5:
			kind = ways[4]
		case i%20 == 6:
			kind = ways[5]
		}
		add(id, kind.playing(script, p)(t))
	}
	const timeout = 8 * time.Second // 100 servers start on what processors there are

	began := time.Now()
	session, err := (&vmcp.Builder{Timeout: timeout, Concurrency: len(backends)}).Build(t.Context(), backends)
	took := time.Since(began)
	require.NoError(t, err)
	defer func() { assert.NoError(t, session.Close()) }() // again: it goes on to bring back what failed
	t.Logf("100 backends, of which 30 fail: %v", took)
	assert.Less(t, took, 3*timeout, "they do not wait for one another")

	report := session.Report()
	require.Len(t, report.Backends, 100)
	assert.Len(t, session.Tools(), 70)
	for i, backend := range report.Backends {
		require.Equal(t, fmt.Sprintf("b%02d", i), backend.ID)
		if failure, ok := broken[backend.ID]; ok {
			assert.Equal(t, vmcp.Failed, backend.State, failure.name)
			assert.NotEmpty(t, backend.Reason, failure.name)
			assert.NotEmpty(t, backend.Remedy, failure.name)
			assert.Contains(t, backend.Reason+"; "+backend.Remedy, failure.says, failure.name)
			continue
		}
		require.Equal(t, vmcp.Ready, backend.State, backend.Reason)
		result, err := session.CallTool(t.Context(), callOf(backend.ID+"_run"))
		require.NoError(t, err)
		assert.Equal(t, backend.ID, textOf(t, result))
	}
	require.NoError(t, session.Close())
	p.await(t, none(9))
}

func TestAServerKilledInTheMiddleOfACallCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	p := newPrograms(t)
	session, err := new(vmcp.Builder).Build(t.Context(), inTheMiddleOfACall(t, p))
	require.NoError(t, err)
	killedInTheMiddleOfACall(t, session, p)
	require.NoError(t, session.Close())
	p.await(t, none(2))
}

// inTheMiddleOfACall are two stdio servers: one that answers and one that hangs.
func inTheMiddleOfACall(t *testing.T, p *programs) []vmcp.Backend {
	t.Helper()
	hanging := serving("dies")
	hanging.Answers["tools/call"] = []badserver.Answer{hang}
	return []vmcp.Backend{
		{ID: "dies", Connector: connect.To(p.stdio(t, hanging))},
		{ID: "lives", Connector: connect.To(p.stdio(t, serving("lives")))},
	}
}

func killedInTheMiddleOfACall(t *testing.T, session *vmcp.Session, p *programs) {
	t.Helper()
	ended := make(chan error)
	go func() {
		_, err := session.CallTool(t.Context(), callOf("dies_alpha"))
		ended <- err
	}()
	for _, one := range p.await(t, asking("tools/call", 1)) {
		if asking("tools/call", 1)([]program{one}) {
			process, err := os.FindProcess(one.pid)
			require.NoError(t, err)
			require.NoError(t, process.Kill())
			require.NoError(t, process.Release())
		}
	}
	for _, err := range []error{<-ended, session.Probe(t.Context(), "dies")} { // in its middle, and afterwards
		var broken *transport.Error
		require.ErrorAs(t, err, &broken)
		assert.ErrorContains(t, err, `backend "dies"`)
		assert.NotErrorIs(t, err, vmcp.ErrClosed)
	}
	result, err := session.CallTool(t.Context(), callOf("lives_alpha"))
	require.NoError(t, err)
	assert.Equal(t, "lives", textOf(t, result))
	require.NoError(t, session.Probe(t.Context(), "lives"))
}

func TestARefreshThatWaitsForAnotherEndsWithItsContext(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		backend, server := l.serve(t, "a", with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools("one").Once(), hang}}))
		session, err := new(vmcp.Builder).Build(t.Context(), []vmcp.Backend{backend})
		require.NoError(t, err)
		first := make(chan error)
		go func() {
			_, err := session.Refresh(t.Context(), "a")
			first <- err
		}()
		require.NoError(t, server.Await(soon(t), "tools/list", 2))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = session.Refresh(ctx, "a")
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 2, server.Count("tools/list"), "it asked nothing")
		require.NoError(t, session.Close())
		require.ErrorIs(t, <-first, vmcp.ErrClosed)
	})
}
