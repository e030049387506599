package endpoint_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	legacy = mcp.ProtocolVersion20251125
	modern = mcp.ProtocolVersion20260728
)

// bounded returns an endpoint whose bounds no test reaches that does not set them.
func bounded(handler endpoint.Handler, o endpoint.Options) *endpoint.Endpoint {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Idle, o.Body = cmp.Or(o.Idle, 30*time.Minute), cmp.Or(o.Body, 16<<20)
	o.Sessions, o.Calls = cmp.Or(o.Sessions, 1_000), cmp.Or(o.Calls, 1_000)
	return endpoint.New(handler, o)
}

type answer = func(context.Context, *endpoint.Request) (any, error)

// script is a handler that answers each method as it is told.
type script struct {
	on    map[string]answer
	heard chan string
	left  chan *endpoint.Client
	asked sync.Map // the last client of each method
}

func scripted(on map[string]answer) *script {
	return &script{on: on, heard: make(chan string, 100), left: make(chan *endpoint.Client, 100)}
}

func (s *script) Serve(ctx context.Context, r *endpoint.Request) (any, error) {
	s.asked.Store(string(r.Method), r.Client)
	if f, ok := s.on[string(r.Method)]; ok {
		return f(ctx, r)
	}
	switch r.Method {
	case mcp.MethodInitialize:
		return &mcp.InitializeResult{ProtocolVersion: r.Client.Version(), ServerInfo: mcp.Implementation{Name: "endpoint", Version: "1"}}, nil
	case mcp.MethodServerDiscover:
		return &mcp.DiscoverResult{SupportedVersions: mcp.ValidProtocolVersions, Capabilities: mcp.ServerCapabilities{}}, nil
	case mcp.MethodToolsCall:
		return mcp.NewToolResultText("done"), nil
	default:
		return nil, &endpoint.Failure{Code: mcp.METHOD_NOT_FOUND, Message: "no such method"}
	}
}

func (s *script) HandleNotification(_ context.Context, c *endpoint.Client, method string, params json.RawMessage) {
	s.heard <- method + " " + c.Version() + " " + string(params)
}

func (s *script) Disconnected(c *endpoint.Client) { s.left <- c }

func (s *script) client(method string) *endpoint.Client {
	c, _ := s.asked.Load(method)
	return c.(*endpoint.Client)
}

// site is an endpoint behind a real server.
type site struct {
	*script
	t        *testing.T
	endpoint *endpoint.Endpoint
	url      string
	http     *http.Client
}

func serve(t *testing.T, on map[string]answer, options endpoint.Options) *site {
	t.Helper()
	s := &site{script: scripted(on), t: t}
	s.endpoint = bounded(s.script, options)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.endpoint.ServeHTTP(w, r.WithContext(endpoint.WithIdentity(r.Context(), r.Header.Get("X-Identity"))))
	}))
	own := http.DefaultTransport.(*http.Transport).Clone()
	s.url, s.http = server.URL, &http.Client{Transport: own}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.endpoint.Shutdown(ctx)
		own.CloseIdleConnections()
		server.Close()
	})
	return s
}

type headers map[string]string

// do sends a request over HTTP, with headers in pairs; "" removes one.
func (s *site) do(ctx context.Context, method, body string, h headers) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range h {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	response, err := s.http.Do(r)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (s *site) post(body string, h headers) *http.Response {
	s.t.Helper()
	return s.do(s.t.Context(), http.MethodPost, body, h)
}

// open begins a session and returns the header that names it.
func (s *site) open(h headers) headers {
	s.t.Helper()
	response := s.post(hello(legacy), h)
	require.Equal(s.t, http.StatusOK, response.StatusCode, text(s.t, response))
	id := response.Header.Get(endpoint.SessionHeader)
	require.NotEmpty(s.t, id)
	named := headers{endpoint.SessionHeader: id}
	for name, value := range h {
		named[name] = value
	}
	return named
}

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version +
		`","clientInfo":{"name":"me","version":"1"},"capabilities":{"sampling":{},"roots":{}}}}`
}

// the returns a request of protocol 2026-07-28, and its headers.
func the(method, params string) (string, headers) {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":` + meta(modern) + `}}`,
		headers{"Mcp-Protocol-Version": modern, "Mcp-Method": method}
}

func meta(version string) string {
	return `{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"me","version":"1"}}`
}

func text(t *testing.T, response *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return strings.TrimSpace(string(all))
}

func code(t *testing.T, response *http.Response) int {
	t.Helper()
	var said struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	body := text(t, response)
	require.NoError(t, json.Unmarshal([]byte(body), &said), body)
	return said.Error.Code
}

// stream reads server-sent events.
type stream struct {
	t    *testing.T
	body *bufio.Scanner
}

func events(t *testing.T, response *http.Response) *stream {
	t.Helper()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	return &stream{t, bufio.NewScanner(response.Body)}
}

// next returns the data of the next event; empty at the end.
func (s *stream) next() string {
	for s.body.Scan() {
		if data, ok := strings.CutPrefix(s.body.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// event is a notification or a question.
type event struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params map[string]any  `json:"params"`
	Result map[string]any  `json:"result"`
	Error  map[string]any  `json:"error"`
}

func (s *stream) event() (e event) {
	s.t.Helper()
	data := s.next()
	require.NoError(s.t, json.Unmarshal([]byte(data), &e), "%q", data)
	return e
}

// listen opens the GET stream of a session.
func (s *site) listen(session headers) (*stream, context.CancelFunc) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	return events(s.t, s.do(ctx, http.MethodGet, "", session)), cancel
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-soon(t).Done():
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func note(method string, params map[string]any) mcp.JSONRPCNotification {
	return endpoint.NewNotification(method, params)
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	assert.Eventually(t, condition, 10*time.Second, time.Millisecond)
}
