package middleware_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// boasting advertises resources and does not have them.
func boasting(protocol string) badserver.Script {
	return badserver.Script{Protocol: protocol, Capabilities: json.RawMessage(`{"tools":{},"resources":{}}`), Answers: map[string][]badserver.Answer{
		"tools/list":     {badserver.Tools("search")},
		"resources/list": {badserver.Fail(mcp.METHOD_NOT_FOUND, "Method not found").WithStatus(404)},
	}}
}

// overLoopback is the URL of a script, and what its client is made with.
func overLoopback(t *testing.T, handler func(*badserver.Server) http.Handler, script badserver.Script) (string, *http.Transport) {
	t.Helper()
	s := badserver.New(script)
	endpoint := httptest.NewServer(handler(s))
	t.Cleanup(endpoint.Close)
	t.Cleanup(func() { _ = s.Close() })
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return endpoint.URL, base
}

func streamable(s *badserver.Server) http.Handler { return s }
func legacySSE(s *badserver.Server) http.Handler  { return s.SSE() }

// overMCPGo is a client of mcp-go's own, not yet initialised.
func overMCPGo(t *testing.T, script badserver.Script, wired bool) client.MCPClient {
	t.Helper()
	url, base := overLoopback(t, streamable, script)
	over := &http.Client{Transport: base}
	if wired {
		over.Transport = &wire.Transport{Base: base}
	}
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(over), transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func begun(t *testing.T, c client.MCPClient) client.MCPClient {
	t.Helper()
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	return c
}

// missing are the WARNs that say that wire is missing.
func missing(t *testing.T, log *mcptest.Journal) (all []mcptest.Record) {
	t.Helper()
	for _, r := range log.Take() {
		if r["event"] == "wire_missing" {
			assert.Equal(t, "WARN", r["level"])
			all = append(all, r)
		}
	}
	return all
}

func TestTheFirstSnippetWorksOnEachProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		url, base := overLoopback(t, streamable, boasting(protocol))
		opened, err := connect.Open(t.Context(), connect.HTTP{URL: url, RoundTripper: base}, middleware.Default(nil, nil))
		require.NoError(t, err)
		var log mcptest.Journal
		wrapped := mcpclient.Wrap(begun(t, overMCPGo(t, boasting(protocol), true)), middleware.Default(log.Logger(), nil))
		for _, c := range []*mcpclient.Client{opened, wrapped} {
			resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
			require.NoError(t, err)
			assert.NotNil(t, resources.Resources)
			tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Len(t, tools.Tools, 1)
		}
		assert.Empty(t, missing(t, &log))
		require.NoError(t, opened.Close())
	}
}

func TestAMissingWireIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run("at the handshake "+protocol, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			c := mcpclient.Wrap(overMCPGo(t, boasting(protocol), false), middleware.Default(log.Logger(), nil))
			begun(t, c)
			said := missing(t, &log)
			require.Len(t, said, 1)
			assert.Contains(t, said[0]["remedy"], "transport.WithHTTPBasicClient(&http.Client{Transport: &wire.Transport{}})")
			_, _ = c.ListTools(t.Context(), mcp.ListToolsRequest{})
			assert.Empty(t, missing(t, &log), "once")
		})
		t.Run("at the first list "+protocol, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			c := mcpclient.Wrap(begun(t, overMCPGo(t, boasting(protocol), false)), middleware.Default(log.Logger(), nil))
			_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Len(t, missing(t, &log), 1)
		})
	}
	t.Run("at a 404 of 2026-07-28", func(t *testing.T) {
		t.Parallel()
		var log mcptest.Journal
		c := mcpclient.Wrap(begun(t, overMCPGo(t, boasting(modern), false)), middleware.Default(log.Logger(), nil))
		_, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
		require.ErrorIs(t, err, transport.ErrSessionTerminated)
		assert.Len(t, missing(t, &log), 1)
	})
	t.Run("over HTTP+SSE", func(t *testing.T) {
		t.Parallel()
		url, base := overLoopback(t, legacySSE, boasting(mcp.ProtocolVersion20241105))
		for wired, want := range map[bool]int{false: 1, true: 0} {
			over := &http.Client{Transport: base}
			if wired {
				over.Transport = &wire.Transport{Base: base}
			}
			inner, err := client.NewSSEMCPClient(url, client.WithHTTPClient(over))
			require.NoError(t, err)
			require.NoError(t, inner.Start(t.Context()))
			var log mcptest.Journal
			c := mcpclient.Wrap(inner, middleware.Default(log.Logger(), nil))
			_, err = c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: mcp.ProtocolVersion20241105}})
			require.NoError(t, err)
			assert.Len(t, missing(t, &log), want)
			require.NoError(t, c.Close())
		}
	})
}

func TestNobodyIsToldOfAWireThatIsNotMissing(t *testing.T) {
	t.Parallel()
	lost := boasting(legacy)
	lost.Session = true
	lost.Answers["tools/list"] = []badserver.Answer{badserver.Plain(404, "who are you?")}
	ended := begun(t, overMCPGo(t, lost, true))
	_, err := ended.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	inProcess, err := client.NewInProcessClient(mcpserver.NewMCPServer("acme", "1", mcpserver.WithToolCapabilities(true)))
	require.NoError(t, err)
	require.NoError(t, inProcess.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, inProcess.Close()) })
	for name, inner := range map[string]client.MCPClient{
		"with wire":                        begun(t, overMCPGo(t, boasting(modern), true)),
		"in a session that is lost":        ended, // where nothing is sent
		"in-process":                       begun(t, inProcess),
		"a client of one's own":            instant{},
		"a wrapped client of one's own":    mcpclient.Wrap(instant{}),
		"wire beneath, and wrapped before": mcpclient.Wrap(begun(t, overMCPGo(t, boasting(legacy), true)), middleware.Default(nil, nil)),
	} {
		var log mcptest.Journal
		c := mcpclient.Wrap(inner, middleware.Default(log.Logger(), nil))
		if _, own := mcpclient.As[instant](inner); own {
			begun(t, c)
			_, _ = c.CallTool(t.Context(), mcp.CallToolRequest{})
		} else {
			_ = c.Ping(t.Context()) // which sends nothing on 2026-07-28
			_, _ = c.ListTools(t.Context(), mcp.ListToolsRequest{})
			_, _ = c.ListResources(t.Context(), mcp.ListResourcesRequest{})
		}
		assert.Empty(t, missing(t, &log), name)
	}
}

// mcp-go v1.2.1 makes an empty list of a missing one there.
func TestAListOfToolsThatIsMissingIsAContradictionWithWireBeneath(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		for _, events := range []bool{false, true} {
			script := boasting(protocol)
			script.Answers["tools/list"] = []badserver.Answer{{Result: json.RawMessage(`{"resultType":"complete"}`), SSE: events}}
			var log mcptest.Journal
			c := mcpclient.Wrap(begun(t, overMCPGo(t, script, true)), middleware.Default(log.Logger(), nil))
			_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			var contradiction *middleware.ContradictionError
			require.ErrorAs(t, err, &contradiction)
			require.ErrorIs(t, err, mcpclient.ErrMalformedList)
			assert.Equal(t, "malformed_list", contradiction.Event)
			var told []any
			for _, r := range log.Take() {
				if r["event"] == "malformed_list" {
					told = append(told, r["level"])
				}
			}
			assert.Equal(t, []any{"WARN"}, told)
		}
	}
}
