package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	legacy = mcp.ProtocolVersion20251125
	modern = mcp.ProtocolVersion20260728
)

// answers are those of one server, by method.
type answers = map[string][]badserver.Answer

// serving is a server that has all that it advertises, with its name in its
// answers.
func serving(name string) badserver.Script {
	return badserver.Script{
		Name: "server of " + name, Version: "9", Protocol: legacy,
		Capabilities: json.RawMessage(`{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}`),
		Answers: answers{
			"tools/list":               {badserver.Tools("run", "stop")},
			"resources/list":           {badserver.Resources("res://" + name)},
			"resources/templates/list": {badserver.ResourceTemplates("res://" + name + "/{id}")},
			"prompts/list":             {badserver.Prompts("greet")},
			"tools/call":               {badserver.Result(mcp.NewToolResultText(name))},
			"prompts/get":              {badserver.Result(map[string]any{"description": name, "messages": []any{}})},
			"resources/read":           {badserver.Result(map[string]any{"contents": []any{map[string]any{"uri": "res://" + name, "text": name}}})},
			"completion/complete":      {badserver.Result(map[string]any{"completion": map[string]any{"values": []string{name}}})},
		},
	}
}

// only keeps these capabilities of a server.
func only(capabilities string, script badserver.Script) badserver.Script {
	script.Capabilities = json.RawMessage(capabilities)
	return script
}

// before returns a gateway before scripted servers, in-process, without the
// built-in tool unless an option says otherwise.
func before(t *testing.T, scripts map[string]badserver.Script, options ...func(*gateway.Options)) (*gateway.Gateway, map[string]*badserver.Server) {
	t.Helper()
	var backends []vmcp.Backend
	servers := map[string]*badserver.Server{}
	for _, id := range slices.Sorted(maps.Keys(scripts)) {
		servers[id] = badserver.New(scripts[id])
		backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(servers[id])})
	}
	return over(t, &vmcp.Builder{}, backends, options...), servers
}

// over returns a gateway to backends, which is shut down with the test.
func over(t *testing.T, builder *vmcp.Builder, backends []vmcp.Backend, options ...func(*gateway.Options)) *gateway.Gateway {
	t.Helper()
	o := gateway.Options{Info: mcp.Implementation{Name: "the gateway", Version: "1"}, NoStatusTool: true}
	for _, option := range options {
		option(&o)
	}
	g := gateway.New(builder, backends, o)
	t.Cleanup(func() { assert.NoError(t, g.Shutdown(context.Background())) })
	return g
}

// listen serves a gateway over HTTP.
func listen(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	endpoint := httptest.NewServer(g)
	t.Cleanup(endpoint.Close)
	t.Cleanup(func() { assert.NoError(t, g.Shutdown(context.Background())) }) // first: it ends the streams
	return endpoint.URL + gateway.Path
}

// httpClient has connections of its own, which end with the test.
func httpClient(t *testing.T) *http.Client {
	t.Helper()
	own := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(own.CloseIdleConnections)
	return &http.Client{Transport: own, Timeout: 20 * time.Second}
}

// A way in which a client reaches a gateway.
type way struct {
	name, protocol string
	dial           func(*testing.T, *gateway.Gateway) transport.Interface
}

var ways = []way{
	{"http, legacy", legacy, overHTTP},
	{"http, modern", modern, overHTTP},
	{"stdio, legacy", legacy, overStdio},
	{"stdio, modern", modern, overStdio},
}

func overHTTP(t *testing.T, g *gateway.Gateway) transport.Interface {
	t.Helper()
	tr, err := transport.NewStreamableHTTP(listen(t, g), transport.WithHTTPBasicClient(httpClient(t)))
	require.NoError(t, err)
	return tr
}

func overStdio(t *testing.T, g *gateway.Gateway) transport.Interface {
	t.Helper()
	in, toGateway := io.Pipe()
	fromGateway, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- g.ServeStdio(context.Background(), in, out)
	}()
	t.Cleanup(func() {
		assert.NoError(t, toGateway.Close())
		assert.NoError(t, <-served)
		assert.NoError(t, out.Close())
	})
	return transport.NewIO(fromGateway, toGateway, nil)
}

// connected is a client of a gateway, after its handshake.
func (w way) connected(t *testing.T, g *gateway.Gateway) (*client.Client, *mcp.InitializeResult) {
	t.Helper()
	c := client.NewClient(w.dial(t, g), client.WithProtocolVersion(w.protocol))
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() { _ = c.Close() })
	hello, err := c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: mcp.Implementation{Name: "the caller", Version: "2"}}})
	require.NoError(t, err)
	require.Equal(t, w.protocol, hello.ProtocolVersion)
	return c, hello
}

// everyWay runs a test in every way that a client can reach a gateway.
func everyWay(t *testing.T, test func(*testing.T, way)) {
	t.Helper()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// soon is a deadline for what does not take long; a test that meets it fails.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
