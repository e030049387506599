package vmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// dyingVariable makes the test binary a stdio server that writes its
// environment to its standard error and dies.
const dyingVariable = "VMCP_TEST_DIES"

// prepare is what a suite with a build tag needs before its tests.
var prepare = func() {}

func TestMain(m *testing.M) {
	if os.Getenv(dyingVariable) != "" {
		_, _ = os.Stderr.WriteString("cannot start with " + strings.Join(os.Environ(), " ") + "\n")
		os.Exit(1)
	}
	if address := os.Getenv(listenVariable); address != "" {
		os.Exit(runEndpoint(address, os.Getenv(scriptVariable)))
	}
	if script := os.Getenv(scriptVariable); script != "" {
		os.Exit(runProgram(script))
	}
	prepare()
	goleak.VerifyTestMain(m)
}

const (
	legacy = mcp.ProtocolVersion20251125
	modern = mcp.ProtocolVersion20260728
)

// link is a way to a scripted server, in one of the protocol's eras.
type link struct {
	name     string
	protocol string
	target   func(*testing.T, *badserver.Server) connect.Target
}

var links = []link{
	{"in-process, legacy", legacy, inProcess},
	{"in-process, modern", modern, inProcess},
	{"http, legacy", legacy, overHTTP},
	{"http, modern", modern, overHTTP},
}

func inProcess(t *testing.T, s *badserver.Server) connect.Target {
	t.Helper()
	t.Cleanup(func() { _ = s.Close() })
	return outspoken{s}
}

// outspoken is a target in this process that tells the exchange of a call what the
// server answered, as those of package connect do.
type outspoken struct{ *badserver.Server }

func (s outspoken) Dial(ctx context.Context) (transport.Interface, error) {
	inner, err := s.Server.Dial(ctx)
	return outspokenTransport{inner}, err
}

type outspokenTransport struct{ transport.Interface }

func (t outspokenTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	exchange := wire.ExchangeOf(ctx)
	exchange.Sent(fmt.Sprint(request.ID.Value()), "")
	response, err := t.Interface.SendRequest(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case response.Error != nil:
		exchange.Refused(wire.Refusal{Code: response.Error.Code, Message: response.Error.Message})
	default:
		response.Result = exchange.Answered(request.Method, response.Result)
	}
	return response, nil
}

func overHTTP(t *testing.T, s *badserver.Server) connect.Target {
	t.Helper()
	endpoint := httptest.NewServer(s)
	t.Cleanup(func() { _ = s.Close(); endpoint.Close() })
	return connect.HTTP{URL: endpoint.URL + "/mcp"}
}

// everywhere runs a test over all links.
func everywhere(t *testing.T, test func(*testing.T, link)) {
	t.Helper()
	for _, w := range links {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// serve starts a scripted server and returns it as a backend.
func (w link) serve(t *testing.T, id string, script badserver.Script) (vmcp.Backend, *badserver.Server) {
	t.Helper()
	if script.Protocol == "" {
		script.Protocol = w.protocol
	}
	s := badserver.New(script)
	return vmcp.Backend{ID: id, Connector: connect.To(w.target(t, s))}, s
}

// answers are those of one server, by method.
type answers = map[string][]badserver.Answer

// with returns a script that advertises the capabilities, as JSON.
func with(capabilities string, a answers) badserver.Script {
	return badserver.Script{Name: "scripted", Version: "1.2.3", Capabilities: json.RawMessage(capabilities), Answers: a}
}

// honest is a server that has all that it advertises.
func honest() badserver.Script {
	return with(`{"tools":{},"resources":{},"prompts":{}}`, answers{
		"tools/list":               {badserver.Tools("alpha", "beta")},
		"resources/list":           {badserver.Resources("res://one")},
		"resources/templates/list": {badserver.ResourceTemplates("res://many/{name}")},
		"prompts/list":             {badserver.Prompts("greet")},
	})
}

// onlyTools is a server with these tools.
func onlyTools(names ...string) badserver.Script {
	return with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools(names...)}})
}

// build builds a session that is closed with the test.
func build(t *testing.T, b *vmcp.Builder, backends ...vmcp.Backend) *vmcp.Session {
	t.Helper()
	session, err := b.Build(t.Context(), backends)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, session.Close()) })
	return session
}

// buildError builds what must not come about.
func buildError(t *testing.T, b *vmcp.Builder, backends ...vmcp.Backend) *vmcp.BuildError {
	t.Helper()
	session, err := b.Build(t.Context(), backends)
	require.Nil(t, session)
	var failed *vmcp.BuildError
	require.ErrorAs(t, err, &failed)
	return failed
}

func reportOf(t *testing.T, report vmcp.Report, id string) vmcp.BackendReport {
	t.Helper()
	found, ok := report.Backend(id)
	require.True(t, ok, "no report about %q", id)
	return found
}

func toolNames(s *vmcp.Session) []string {
	names := []string{}
	for _, tool := range s.Tools() {
		names = append(names, tool.Name)
	}
	return names
}

func promptNames(s *vmcp.Session) []string {
	names := []string{}
	for _, prompt := range s.Prompts() {
		names = append(names, prompt.Name)
	}
	return names
}

func uris(s *vmcp.Session) []string {
	all := []string{}
	for _, resource := range s.Resources() {
		all = append(all, resource.URI)
	}
	return all
}

func templates(s *vmcp.Session) []string {
	all := []string{}
	for _, template := range s.ResourceTemplates() {
		all = append(all, template.URITemplate.Raw())
	}
	return all
}

// asked are the methods that a server was asked, in the order of arrival. The
// GET with which a session listens over HTTP is none.
func asked(s *badserver.Server) []string {
	methods := []string{}
	for _, request := range s.Requests() {
		if request.Method != http.MethodGet {
			methods = append(methods, request.Method)
		}
	}
	return methods
}

// hooked is a scripted server that tells the test what happens on its
// connections, in-process.
type hooked struct {
	*badserver.Server
	// before is called before a request is sent; an error fails the request.
	before func(ctx context.Context, method string) error

	mu             sync.Mutex
	dialed, closed int
	closes         int // how often Close was called, again and again included
}

func (h *hooked) Dial(ctx context.Context) (transport.Interface, error) {
	inner, err := h.Server.Dial(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dialed++
	return &hookedTransport{Interface: inner, on: h}, nil
}

func (h *hooked) String() string { return "hooked server" }

// open says how many connections were opened and how many are still open.
func (h *hooked) open() (dialed, open int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dialed, h.dialed - h.closed
}

type hookedTransport struct {
	transport.Interface
	on   *hooked
	once sync.Once
}

func (h *hookedTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if h.on.before != nil {
		if err := h.on.before(ctx, request.Method); err != nil {
			return nil, err
		}
	}
	return h.Interface.SendRequest(ctx, request)
}

func (h *hookedTransport) Close() error {
	h.on.mu.Lock()
	h.on.closes++
	h.on.mu.Unlock()
	h.once.Do(func() {
		h.on.mu.Lock()
		defer h.on.mu.Unlock()
		h.on.closed++
	})
	return h.Interface.Close()
}

// hook returns a backend on a hooked scripted server.
func hook(t *testing.T, id string, script badserver.Script, before func(context.Context, string) error) (vmcp.Backend, *hooked) {
	t.Helper()
	h := &hooked{Server: badserver.New(script), before: before}
	t.Cleanup(func() { _ = h.Close() })
	return vmcp.Backend{ID: id, Connector: connect.To(h)}, h
}

// soon is a deadline for what does not take long; a test that meets it fails.
var soon = mcptest.Soon

func callOf(name string) mcp.CallToolRequest {
	return mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name}}
}

func textOf(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	require.Len(t, result.Content, 1)
	text, ok := mcp.AsTextContent(result.Content[0])
	require.True(t, ok)
	return text.Text
}

// isStream says whether a request only opens a stream for notifications.
func isStream(request badserver.Request) bool {
	return request.Method == "GET" || request.Method == string(mcp.MethodSubscriptionsListen)
}
