package gateway_test

import (
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beforeWeb is a gateway before a server that is reached over HTTP.
func beforeWeb(t *testing.T, script badserver.Script, more ...func(*vmcp.Backend)) (*gateway.Gateway, *badserver.Server) {
	t.Helper()
	backend := badserver.New(script)
	site := httptest.NewServer(backend)
	t.Cleanup(site.Close)
	t.Cleanup(func() { _ = backend.Close() })
	b := vmcp.Backend{ID: "one", Connector: connect.To(connect.HTTP{URL: site.URL})}
	for _, change := range more {
		change(&b)
	}
	return over(t, &vmcp.Builder{}, []vmcp.Backend{b}), backend
}

// asks are the requests that one backend answers, by method.
var asks = map[string]object{
	"tools/call":          {"name": "one_run"},
	"prompts/get":         {"name": "one_greet"},
	"resources/read":      {"uri": "res://one"},
	"completion/complete": {"ref": object{"type": "ref/prompt", "name": "one_greet"}, "argument": object{"name": "a", "value": "b"}},
}

func TestAnErrorOfABackendPassesExactly(t *testing.T) {
	t.Parallel()
	for _, code := range []int{mcp.INVALID_PARAMS, mcp.INTERNAL_ERROR, mcp.METHOD_NOT_FOUND, -32050, 7, mcp.REQUEST_INTERRUPTED} {
		script := watched("one")
		failing := badserver.Fail(code, "the reason")
		failing.Error.Data = []byte(`{"hint":[1,2]}`)
		for method := range asks {
			script.Answers[method] = []badserver.Answer{failing}
		}
		script.Answers["resources/subscribe"] = []badserver.Answer{failing}
		g, backend := beforeWeb(t, script)
		for _, me := range []who{plain, newest, asker} {
			p := plug(t, g, me)
			for method, params := range asks {
				before := backend.Count(method)
				refused := p.ask(method, params).Error
				if code == mcp.METHOD_NOT_FOUND && method == "completion/complete" {
					assert.Nil(t, refused, "who has no completions has none to offer")
					continue
				}
				require.NotNil(t, refused, "%s %d", method, code)
				assert.Equal(t, code, refused.Code, method)
				assert.Equal(t, `backend "one": the reason`, refused.Message)
				assert.JSONEq(t, `{"hint":[1,2]}`, string(refused.Data))
				assert.Equal(t, before+1, backend.Count(method), "%s costs one request, failed or not", method)
			}
		}
		refused := plug(t, g, plain).ask("resources/subscribe", aboutOne).Error
		require.NotNil(t, refused)
		assert.Equal(t, code, refused.Code)
	}
}

func TestWhatNobodyHasIsRefusedInTheWordsOfTheProtocol(t *testing.T) {
	t.Parallel()
	g, servers := before(t, two())
	for _, c := range []struct {
		method               string
		params               object
		legacy, modern       int
		message, dataOfBoth  string
		onlyLegacy, onlyThen bool
	}{
		{method: "tools/call", params: object{"name": "nope"}, legacy: mcp.INVALID_PARAMS, modern: mcp.INVALID_PARAMS, message: `unknown tool "nope"`},
		{method: "prompts/get", params: object{"name": "nope"}, legacy: mcp.INVALID_PARAMS, modern: mcp.INVALID_PARAMS, message: `unknown prompt "nope"`},
		{method: "resources/read", params: object{"uri": "res://nope"}, legacy: mcp.RESOURCE_NOT_FOUND, modern: mcp.INVALID_PARAMS, message: `unknown resource "res://nope"`, dataOfBoth: `{"uri":"res://nope"}`},
		{method: "tools/call", params: object{"name": 7}, legacy: mcp.INVALID_PARAMS, modern: mcp.INVALID_PARAMS, message: "cannot unmarshal"},
		{method: "tools/sell", legacy: mcp.METHOD_NOT_FOUND, modern: mcp.METHOD_NOT_FOUND, message: "there is no method tools/sell"},
		{method: "server/discover", legacy: mcp.METHOD_NOT_FOUND, message: "there is no method server/discover on protocol " + legacy},
		{method: "resources/subscribe", params: aboutOne, modern: mcp.METHOD_NOT_FOUND, message: "there is no method resources/subscribe on protocol " + modern},
		{method: "logging/setLevel", params: object{"level": "info"}, modern: mcp.METHOD_NOT_FOUND, message: "on protocol " + modern},
		{method: "ping", modern: mcp.METHOD_NOT_FOUND, message: "there is no method ping"},
	} {
		for me, code := range map[*who]int{&plain: c.legacy, &newest: c.modern} {
			if code == 0 {
				continue
			}
			refused := plug(t, g, *me).ask(c.method, c.params).Error
			require.NotNil(t, refused, c.method)
			assert.Equal(t, code, refused.Code, c.method)
			assert.Contains(t, refused.Message, c.message)
			if c.dataOfBoth != "" {
				assert.JSONEq(t, c.dataOfBoth, string(refused.Data))
			}
		}
	}
	for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
		assert.Zero(t, servers["one"].Count(method), "nobody was asked")
	}
}
