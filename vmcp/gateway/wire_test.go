package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/require"
)

// object is JSON.
type object = map[string]any

// said is a message of the gateway as it is on the wire.
type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

func (s said) isAnswer() bool { return s.Method == "" }

// text is what a tool has answered with.
func (s said) text(t *testing.T) string {
	t.Helper()
	require.Nil(t, s.Error)
	result, err := mcp.ParseCallToolResult(&s.Result)
	require.NoError(t, err, string(s.Result))
	require.NotEmpty(t, result.Content, string(s.Result))
	return result.Content[0].(mcp.TextContent).Text
}

// into reads a result.
func (s said) into(t *testing.T, v any) {
	t.Helper()
	require.Nil(t, s.Error)
	require.NoError(t, json.Unmarshal(s.Result, v))
}

// who is what a client says of itself.
type who struct {
	protocol string
	can      object // its capabilities
	level    string // of log messages, in each request of protocol 2026-07-28
}

var (
	plain  = who{protocol: legacy, can: object{}}
	newest = who{protocol: modern, can: object{}}
)

// everything is what a client can be asked for.
var everything = object{"sampling": object{}, "elicitation": object{}, "roots": object{}}

// params are those of a request, with what the protocol has in each.
func (w who) params(params object) object {
	all := maps.Clone(params)
	if all == nil {
		all = object{}
	}
	if w.protocol != modern {
		return all
	}
	meta := object{
		mcp.MetaKeyProtocolVersion: modern, mcp.MetaKeyClientCapabilities: w.can,
		mcp.MetaKeyClientInfo: object{"name": "wire", "version": "1"},
	}
	if w.level != "" {
		meta[mcp.MetaKeyLogLevel] = w.level
	}
	if own, ok := params["_meta"].(object); ok {
		maps.Copy(meta, own)
	}
	all["_meta"] = meta
	return all
}

func (w who) initialize() object {
	return object{"protocolVersion": w.protocol, "capabilities": w.can, "clientInfo": object{"name": "wire", "version": "1"}}
}

var lastID atomic.Int64

func message(t *testing.T, method string, params object) ([]byte, int64) {
	t.Helper()
	id := lastID.Add(1)
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	require.NoError(t, err)
	return body, id
}

// web is a client over HTTP.
type web struct {
	who
	t       *testing.T
	url     string
	http    *http.Client
	session string
	more    http.Header
	hello   said
}

// reach connects to a gateway over HTTP.
func reach(t *testing.T, url string, me who, more ...string) *web {
	t.Helper()
	w := &web{who: me, t: t, url: url, http: httpClient(t), more: http.Header{}}
	for i := 0; i < len(more); i += 2 {
		w.more.Add(more[i], more[i+1])
	}
	if me.protocol == modern {
		w.hello = w.ask("server/discover", nil)
		return w
	}
	body, _ := message(t, "initialize", me.initialize())
	response := w.send(t.Context(), http.MethodPost, body, nil)
	w.session = response.Header.Get(endpoint.SessionHeader)
	w.hello = w.read(response).answer()
	return w
}

func (w *web) send(ctx context.Context, method string, body []byte, header map[string]string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(body))
	require.NoError(w.t, err)
	maps.Copy(r.Header, w.more)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	}
	if w.session != "" {
		r.Header.Set(endpoint.SessionHeader, w.session)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := w.http.Do(r)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// begin sends a request.
func (w *web) begin(ctx context.Context, method string, params object) *stream {
	w.t.Helper()
	all := w.params(params)
	body, _ := message(w.t, method, all)
	raw, err := json.Marshal(all)
	require.NoError(w.t, err)
	header := mcp.StandardHeaders(w.protocol, mcp.MCPMethod(method), raw)
	if header == nil {
		header = map[string]string{}
	}
	header["Mcp-Protocol-Version"] = w.protocol
	return w.read(w.send(ctx, http.MethodPost, body, header))
}

// ask returns the answer to a request.
func (w *web) ask(method string, params object) said {
	w.t.Helper()
	return w.begin(w.t.Context(), method, params).answer()
}

func (w *web) call(tool string) said {
	w.t.Helper()
	return w.ask("tools/call", object{"name": tool})
}

// tell sends something that is not answered, an answer too.
func (w *web) tell(m object) {
	w.t.Helper()
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	require.NoError(w.t, err)
	response := w.send(w.t.Context(), http.MethodPost, body, map[string]string{"Mcp-Protocol-Version": w.protocol})
	require.Equal(w.t, http.StatusAccepted, response.StatusCode)
}

// listen opens the stream of what belongs to no request.
func (w *web) listen() *stream {
	w.t.Helper()
	return w.read(w.send(w.t.Context(), http.MethodGet, nil, nil))
}

// leave ends the session.
func (w *web) leave() {
	w.t.Helper()
	require.Equal(w.t, http.StatusNoContent, w.send(w.t.Context(), http.MethodDelete, nil, nil).StatusCode)
}

// stream is what comes in answer to a request: events, or one body.
type stream struct {
	t      *testing.T
	status int
	body   io.Reader
	lines  *bufio.Scanner // of events
}

func (w *web) read(response *http.Response) *stream {
	s := &stream{t: w.t, status: response.StatusCode, body: response.Body}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		s.lines = bufio.NewScanner(response.Body)
		s.lines.Buffer(nil, 16<<20)
	}
	return s
}

// next returns the next message.
func (s *stream) next() (m said) {
	s.t.Helper()
	if s.lines == nil {
		require.NoError(s.t, json.NewDecoder(s.body).Decode(&m))
		return m
	}
	for s.lines.Scan() {
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			require.NoError(s.t, json.Unmarshal([]byte(data), &m))
			return m
		}
	}
	require.FailNow(s.t, "the stream has ended", "%v", s.lines.Err())
	return m
}

// until returns the next message of a method.
func (s *stream) until(method string) said {
	s.t.Helper()
	for {
		if m := s.next(); m.Method == method {
			return m
		}
	}
}

// answer returns the answer, which ends the stream.
func (s *stream) answer() said { s.t.Helper(); return s.until("") }

// pipe is a client over stdio. It works in a bubble of synctest too.
type pipe struct {
	who
	t     *testing.T
	in    *io.PipeWriter
	inbox chan said
	hello said
}

// plug connects to a gateway over stdio.
func plug(t *testing.T, g *gateway.Gateway, me who) *pipe {
	t.Helper()
	p := &pipe{who: me, t: t, inbox: make(chan said, 1000)}
	in, toGateway := io.Pipe()
	fromGateway, out := io.Pipe()
	p.in = toGateway
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = g.ServeStdio(context.Background(), in, out)
		_ = out.Close()
	}()
	go func() {
		defer close(p.inbox)
		for decoder := json.NewDecoder(fromGateway); ; {
			var m said
			if decoder.Decode(&m) != nil {
				return
			}
			p.inbox <- m
		}
	}()
	t.Cleanup(func() {
		_ = toGateway.Close()
		<-served
		for range p.inbox { // until it is closed
		}
	})
	if me.protocol == modern {
		p.hello = p.ask("server/discover", nil)
	} else {
		p.hello = p.ask("initialize", me.initialize())
	}
	return p
}

// begin sends a request and returns its ID.
func (p *pipe) begin(method string, params object) int64 {
	p.t.Helper()
	body, id := message(p.t, method, p.params(params))
	_, err := p.in.Write(append(body, '\n'))
	require.NoError(p.t, err)
	return id
}

func (p *pipe) next() said {
	p.t.Helper()
	m, ok := <-p.inbox
	require.True(p.t, ok, "the gateway has hung up")
	return m
}

// answer returns the answer to a request.
func (p *pipe) answer(id int64) said {
	p.t.Helper()
	for {
		var its int64
		if m := p.next(); m.isAnswer() && json.Unmarshal(m.ID, &its) == nil && its == id {
			return m
		}
	}
}

func (p *pipe) ask(method string, params object) said {
	p.t.Helper()
	return p.answer(p.begin(method, params))
}

func (p *pipe) call(tool string) said {
	p.t.Helper()
	return p.ask("tools/call", object{"name": tool})
}

// until returns the next message of a method.
func (p *pipe) until(method string) said {
	p.t.Helper()
	for {
		if m := p.next(); m.Method == method {
			return m
		}
	}
}

// silent says whether nothing waits to be read.
func (p *pipe) silent() bool { return len(p.inbox) == 0 }
