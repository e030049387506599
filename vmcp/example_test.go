package vmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// Three servers: one is fine, one promises resources that it does not have, and
// one cannot list its tools. The session has what the first two have.
func ExampleBuilder_Build() {
	server := func(capabilities string, tools badserver.Answer) *connect.Connector {
		return connect.To(badserver.New(badserver.Script{
			Capabilities: json.RawMessage(capabilities),
			Answers: map[string][]badserver.Answer{
				"tools/list": {tools},
				"tools/call": {badserver.Result(mcp.NewToolResultText("done"))},
			},
		}))
	}
	ctx := context.Background()
	session, err := new(vmcp.Builder).Build(ctx, []vmcp.Backend{
		{ID: "files", Connector: server(`{"tools":{}}`, badserver.Tools("read", "write"))},
		{ID: "tickets", Connector: server(`{"tools":{},"resources":{}}`, badserver.Tools("find"))},
		{ID: "mail", Connector: server(`{"tools":{}}`, badserver.Fail(mcp.INTERNAL_ERROR, "the disk is full"))},
	})
	if err != nil {
		panic(err)
	}
	defer session.Close()

	for _, tool := range session.Tools() {
		fmt.Println(tool.Name)
	}
	for _, backend := range session.Report().Backends {
		fmt.Printf("%s is %s: %q\n", backend.ID, backend.State, backend.Reason)
	}
	_, err = session.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "mail_send"}})
	var unavailable *vmcp.UnavailableError
	fmt.Println(errors.As(err, &unavailable), unavailable.Backend.ID)
	// Output:
	// files_read
	// files_write
	// tickets_find
	// files is ready: ""
	// tickets is degraded: "advertises resources, but answers resources/list, resources/templates/list with -32601 \"Method not found\""
	// mail is failed: "connect to badserver: the first request failed: tools/list: internal error: the disk is full"
	// true mail
}

// An audit asks everything that a server advertises, and calls no tool.
func ExampleBuilder_Audit() {
	server := badserver.New(badserver.Script{
		Name: "example", Version: "1.0",
		Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`),
		Answers:      map[string][]badserver.Answer{"tools/list": {badserver.Tools("search")}},
	})
	audits, err := new(vmcp.Builder).Audit(context.Background(), []vmcp.Backend{{ID: "example", Connector: connect.To(server)}})
	if err != nil {
		panic(err)
	}
	for _, finding := range audits[0].Findings {
		fmt.Printf("%s %s: %s\n", finding.Method, finding.Verdict, finding.Answer)
	}
	fmt.Println(audits[0].Verdict())
	// Output:
	// tools/list kept: 1 tool
	// tools/call not asked: calling a tool may have effects
	// prompts/list contradicted: -32601 "Method not found"
	// prompts/get contradicted: -32601, method not found: Method not found
	// contradicted
}
