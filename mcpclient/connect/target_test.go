package connect_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATargetOpensListsAndCloses(t *testing.T) {
	t.Parallel()
	http := func(t *testing.T, s *badserver.Server) connect.Target {
		return connect.HTTP{URL: overHTTP(t, s).URL + "/mcp"}
	}
	sse := func(t *testing.T, s *badserver.Server) connect.Target {
		return connect.SSE{URL: overSSE(t, s).URL + "/sse"}
	}
	itself := func(_ *testing.T, s *badserver.Server) connect.Target { return s }

	for name, test := range map[string]struct {
		protocol string
		target   func(*testing.T, *badserver.Server) connect.Target
		asked    []string
	}{
		"HTTP on 2025-11-25 ends its session": {legacy, http, []string{
			"server/discover", "initialize", "notifications/initialized", "tools/list", "DELETE"}},
		"HTTP on 2026-07-28 is verified by a list": {modern, http, []string{
			"server/discover", "tools/list", "tools/list"}},
		"SSE is never asked server/discover": {legacy, sse, []string{
			"GET", "initialize", "notifications/initialized", "tools/list"}},
		"a scripted server on 2025-11-25": {legacy, itself, []string{
			"server/discover", "initialize", "notifications/initialized", "tools/list"}},
		"a scripted server on 2026-07-28": {modern, itself, []string{
			"server/discover", "tools/list", "tools/list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(honest(test.protocol))
			c, err := connect.Open(mcptest.Soon(t), test.target(t, s))
			require.NoError(t, err)

			known, ok := c.Server()
			assert.True(t, ok)
			assert.Equal(t, test.protocol, known.ProtocolVersion)
			assert.Equal(t, []string{"search"}, toolsOf(t, c))
			require.NoError(t, c.Close())
			assert.Equal(t, test.asked, asked(s))
		})
	}
}

func TestHTTPSendsItsSession(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	c, err := connect.Open(mcptest.Soon(t), connect.HTTP{URL: overHTTP(t, s).URL})
	require.NoError(t, err)
	toolsOf(t, c)
	require.NoError(t, c.Close())

	requests := s.Requests()
	assert.Empty(t, requests[1].Connection, "initialize begins the session")
	for _, later := range requests[2:] {
		assert.NotEmpty(t, later.Connection, later.Method)
	}
}

func TestStdioOpensListsAndCloses(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string][]string{
		legacy: {"server/discover", "initialize", "notifications/initialized", "tools/list"},
		modern: {"server/discover", "tools/list", "tools/list"},
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			programs := newLeash(t)
			c, err := connect.Open(mcptest.Soon(t), programs.stdio(t, "server", honest(protocol)))
			require.NoError(t, err)
			assert.Equal(t, []string{"search"}, toolsOf(t, c))
			require.NoError(t, c.Close())

			seen := programs.await(t, "server", ended(1))
			require.Len(t, seen, 1)
			assert.Equal(t, want, seen[0].asked)
		})
	}
}

func TestStdioRunsInItsDirectoryWithItsArguments(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	target := programs.stdio(t, "where", honest(legacy))
	target.Dir, target.Args = t.TempDir(), []string{"one", "two words"}
	_, err := connect.Open(mcptest.Soon(t), target)
	var failed *connect.Error
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Stderr, "in "+target.Dir)
	assert.Contains(t, failed.Stderr, `["one" "two words"]`)
}

// realServer is a server of mcp-go with one tool.
func realServer() *server.MCPServer {
	s := server.NewMCPServer("real", "1.2.3", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})
	return s
}

func TestInProcessOpensListsAndCloses(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{"the newest protocol": "", "an older one": legacy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := realServer()
			c, err := connect.To(connect.InProcess{Server: s}, connect.WithProtocolVersion(version)).Open(mcptest.Soon(t))
			require.NoError(t, err)
			known, _ := c.Server()
			assert.Equal(t, "real", known.ServerInfo.Name)
			assert.Equal(t, []string{"hello"}, toolsOf(t, c))

			told := make(chan string, 10)
			c.OnNotification(func(n mcp.JSONRPCNotification) { told <- n.Method })
			s.SendNotificationToAllClients("notifications/tools/list_changed", nil)
			select {
			case method := <-told:
				assert.Equal(t, "notifications/tools/list_changed", method)
			case <-mcptest.Soon(t).Done():
				assert.Fail(t, "no notification came")
			}
			require.NoError(t, c.Close())
		})
	}
}

func TestTheServerIsToldWhoAsks(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		s := badserver.New(honest(protocol))
		c, err := connect.To(s, connect.WithClientInfo(mcp.Implementation{Name: "somebody", Version: "7"})).Open(mcptest.Soon(t))
		require.NoError(t, err)
		require.NoError(t, c.Close())
		requests := s.Requests()
		assert.Contains(t, string(requests[1].Params), `"name":"somebody"`, protocol)
		assert.Contains(t, string(requests[1].Params), `"version":"7"`, protocol)
	}
}

func TestTheMiddlewaresSeeTheHandshakeTheVerificationAndTheEnd(t *testing.T) {
	t.Parallel()
	var ops []string
	watch := func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			ops = append(ops, call.Op)
			return next(ctx, call)
		}
	}
	c, err := connect.Open(mcptest.Soon(t), badserver.New(honest(modern)), nil, watch)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"Initialize", "ListToolsByPage", "Close"}, ops)
}

func TestMCPGosClientIsFoundUnderTheChain(t *testing.T) {
	t.Parallel()
	c, err := connect.Open(mcptest.Soon(t), badserver.New(honest(modern)))
	require.NoError(t, err)
	defer c.Close()
	inner, ok := mcpclient.As[*client.Client](c)
	require.True(t, ok)
	assert.Equal(t, modern, inner.ProtocolVersion())
}

func TestATargetThatDescribesNoServerIsAnErrorThatSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	const (
		noURL    = "connect to an invalid URL: the target failed: the URL is empty; give an absolute one, such as https://host/mcp"
		badURL   = "connect to an invalid URL: the target failed: the URL is not an absolute http or https URL, such as https://host/mcp; correct the URL"
		noTarget = `; give one, such as connect.HTTP{URL: "https://host/mcp"}`
	)
	var (
		nilHTTP  *connect.HTTP
		nilSSE   *connect.SSE
		nilStdio *connect.Stdio
		nilInner *connect.InProcess
		nilOwn   *badserver.Server
	)
	for name, test := range map[string]struct {
		target connect.Target
		want   string
	}{
		"nil":                  {nil, "connect to no target: the target failed: the target is nil" + noTarget},
		"a nil HTTP":           {nilHTTP, "connect to no target: the target failed: the target is a nil *connect.HTTP" + noTarget},
		"a nil SSE":            {nilSSE, "connect to no target: the target failed: the target is a nil *connect.SSE" + noTarget},
		"a nil Stdio":          {nilStdio, "connect to no target: the target failed: the target is a nil *connect.Stdio" + noTarget},
		"a nil InProcess":      {nilInner, "connect to no target: the target failed: the target is a nil *connect.InProcess" + noTarget},
		"a nil one of its own": {nilOwn, "connect to no target: the target failed: the target is a nil *badserver.Server" + noTarget},
		"no URL":               {connect.HTTP{}, noURL},
		"no URL of events":     {&connect.SSE{}, noURL},
		"no scheme":            {connect.HTTP{URL: "localhost/mcp"}, badURL},
		"a scheme like host":   {connect.HTTP{URL: "localhost:8080/mcp"}, badURL},
		"another scheme":       {connect.HTTP{URL: "ftp://localhost/mcp"}, badURL},
		"no host":              {connect.SSE{URL: "http:///sse"}, badURL},
		"no URL at all":        {connect.SSE{URL: "http://[::1"}, badURL},
		"no command":           {connect.Stdio{}, `connect to no command: the target failed: the command is empty; give the program to run, such as "npx"`},
		"a blank command":      {connect.Stdio{Command: " "}, `connect to no command: the target failed: the command is empty; give the program to run, such as "npx"`},
		"no server":            {connect.InProcess{}, "connect to in-process server: the target failed: the server is nil; give one that server.NewMCPServer of mcp-go made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &mcptest.Journal{}
			_, err := connect.To(test.target, connect.WithLogger(log.Logger())).Open(mcptest.Soon(t))
			var failed *connect.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "target", failed.Stage)
			require.EqualError(t, err, test.want)
			var misused *connect.TargetError
			require.ErrorAs(t, err, &misused)
			assert.Empty(t, log.Records())
		})
	}
	_, err := connect.Open(mcptest.Soon(t), nil)
	require.ErrorContains(t, err, "the target is nil")
}
