package main

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server with one tool, one resource and one prompt, and
// returns its URL and what it has been asked for.
func serve(t *testing.T) (url string, asked func() []string) {
	t.Helper()
	requests := make(chan string, 10)
	s := server.NewMCPServer("honest", "1", server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false), server.WithPromptCapabilities(false))
	s.AddTool(mcp.NewTool("add", mcp.WithNumber("a"), mcp.WithString("b")), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		assert.Equal(t, map[string]any{"a": 1.0, "b": "text"}, request.GetArguments())
		requests <- "tool"
		return mcp.NewToolResultText("sum"), nil
	})
	s.AddResource(mcp.NewResource("test://one", "one"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		requests <- "resource"
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://one", Text: "one"}}, nil
	})
	s.AddPrompt(mcp.NewPrompt("hello"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		requests <- "prompt"
		return mcp.NewGetPromptResult("hello", nil), nil
	})
	endpoint := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(endpoint.Close)
	return endpoint.URL, func() (all []string) {
		close(requests)
		for request := range requests {
			all = append(all, request)
		}
		return all
	}
}

func TestClientUsesAllThatIsOffered(t *testing.T) {
	t.Parallel()
	for _, version := range []string{mcp.LATEST_LEGACY_PROTOCOL_VERSION, mcp.LATEST_PROTOCOL_VERSION} {
		for name, flags := range map[string][]string{"plain": nil, "behind the chain": {"--chain"}} {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				url, asked := serve(t)
				environment := map[string]string{"MCP_CONFORMANCE_PROTOCOL_VERSION": version}
				require.NoError(t, run(t.Context(), append(flags, url), func(name string) string { return environment[name] }))
				assert.Equal(t, []string{"tool", "resource", "prompt"}, asked())
			})
		}
	}
}

func TestClientMakesTheCallsOfTheScenario(t *testing.T) {
	t.Parallel()
	url, asked := serve(t)
	environment := map[string]string{"MCP_CONFORMANCE_CONTEXT": `{"toolCalls":[
		{"name":"add","arguments":{"a":1,"b":"text"}},{"name":"add","arguments":{"a":1,"b":"text"}}]}`}
	require.NoError(t, run(t.Context(), []string{url}, func(name string) string { return environment[name] }))
	assert.Equal(t, []string{"tool", "tool", "resource", "prompt"}, asked())
}

func TestClientNeedsAURLAndAContextThatItCanRead(t *testing.T) {
	t.Parallel()
	nothing := func(string) string { return "" }
	require.ErrorContains(t, run(t.Context(), nil, nothing), "the URL of the server")
	require.ErrorContains(t, run(t.Context(), []string{"--unknown"}, nothing), "unknown")
	require.ErrorContains(t, run(t.Context(), []string{"http://127.0.0.1:1"}, func(string) string { return "{" }), "MCP_CONFORMANCE_CONTEXT")
}
