package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fleet is a report with a backend in each state, as of now.
func fleet(now time.Time) vmcp.Report {
	contradicted := func(method string) middleware.Contradiction {
		return middleware.Contradiction{Event: events.Contradiction, Capability: "resources", Method: mcp.MCPMethod(method), Code: -32601, Message: "Method not found: " + method}
	}
	return vmcp.Report{Backends: []vmcp.BackendReport{
		{ID: "everything", State: vmcp.Ready, Since: now.Add(-3 * time.Hour), Target: "node server-everything/dist/index.js stdio",
			ServerName: "mcp-servers/everything", ServerVersion: "2.0.0", ProtocolVersion: "2026-07-28", Tools: 13, Resources: 7, ResourceTemplates: 2, Prompts: 4},
		{ID: "hubspot", State: vmcp.Degraded, Since: now.Add(-25 * time.Minute), Target: "node @hubspot/mcp-server/dist/index.js",
			ServerName: "hubspot-mcp-server", ServerVersion: "0.4.0", ProtocolVersion: "2025-11-25", Tools: 21,
			Reason:         `advertises resources, but answers resources/list, resources/templates/list with -32601 "Method not found"`,
			Remedy:         "tell the server's authors: vmcp check prints a report for them",
			Contradictions: []middleware.Contradiction{contradicted("resources/list"), contradicted("resources/templates/list")},
			BugReport: "hubspot-mcp-server 0.4.0 does not keep what it advertises\n\nIn its handshake (protocol 2025-11-25) the server advertises capabilities whose methods do not work:\n\n" +
				"- it advertises `resources`, and answers `resources/list` with: -32601 \"Method not found\"\n\nA capability in the handshake is a promise that its methods exist.\n"},
		{ID: "drawio", State: vmcp.Failed, Since: now.Add(-90 * time.Second), Target: "http://127.0.0.1:3000/mcp", Required: true,
			Reason: "connect to http://127.0.0.1:3000/mcp: dial tcp 127.0.0.1:3000: connect: connection refused",
			Remedy: "check the address, and that the server is running", NextTry: now.Add(12 * time.Second), Attempts: 4},
		{ID: "slow", State: vmcp.Connecting, Since: now.Add(-8 * time.Second), Target: "https://mcp.example.com/mcp"},
		{ID: "second", State: vmcp.Degraded, Since: now.Add(-26 * time.Hour), Target: "http://127.0.0.1:3001/mcp",
			ServerName: "files", ServerVersion: "1.2", ProtocolVersion: "2025-11-25", Tools: 14, Resources: 2,
			StaleSince: now.Add(-3 * time.Minute),
			Reason:     "its lists are old, as asking for them again failed: timeout; 2 left out, such as the resource \"demo://one\": backend everything serves it already",
			Remedy:     "see what the server says, here and in its own log",
			LeftOut:    leftOut(2)},
	}}
}

func leftOut(n int) []vmcp.LeftOut {
	list := make([]vmcp.LeftOut, n)
	for i := range list {
		list[i] = vmcp.LeftOut{Kind: "resource", Name: fmt.Sprintf("demo://%d", i), Reason: "backend everything serves it already"}
	}
	return list
}
