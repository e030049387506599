package gateway

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// StatusTool is the name of the built-in tool that tells how the backends stand.
const StatusTool = "vmcp_status"

var statusTool = mcp.NewTool(StatusTool,
	mcp.WithTitleAnnotation("State of the servers behind this one"),
	mcp.WithDescription("Says which servers behind this one are there, which are missing or incomplete, why, since when and what can be done about it. Takes no arguments."),
	mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false),
	mcp.WithIdempotentHintAnnotation(true), mcp.WithOpenWorldHintAnnotation(false))

// hasStatusTool says whether the built-in tool is there: a backend's tool of the
// same name wins.
func (c *call) hasStatusTool() bool {
	_, taken := c.session.Tool(StatusTool)
	return !c.gateway.NoStatusTool && !taken
}

func (c *call) callStatusTool() *mcp.CallToolResult {
	report := c.session.Report()
	lines := make([]string, len(report.Backends))
	for i, backend := range report.Backends {
		lines[i] = sentence(backend)
	}
	result := mcp.NewToolResultText(strings.Join(lines, "\n"))
	result.StructuredContent = report
	return result
}
