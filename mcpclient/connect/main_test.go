package connect_test

import (
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain makes the test binary one of the programs that the tests start, or
// runs the tests.
func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		os.Exit(runProgram(name))
	}
	goleak.VerifyTestMain(m)
}

// soon is a deadline for what does not take long; a test that meets it fails.
var soon = mcptest.Soon

// toolsOf asks the server for its tools.
func toolsOf(t *testing.T, c client.MCPClient) []string {
	t.Helper()
	result, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
	require.NoError(t, err)
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names
}
