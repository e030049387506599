package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
)

// The backend promises prompts that it does not have; the gateway does not
// repeat that.
func ExampleNew() {
	backend := badserver.New(badserver.Script{
		Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`),
		Answers:      map[string][]badserver.Answer{"tools/list": {badserver.Tools("search")}},
	})
	ctx := context.Background()
	session, err := new(vmcp.Builder).Build(ctx, []vmcp.Backend{{ID: "docs", Connector: connect.To(backend)}})
	if err != nil {
		panic(err)
	}
	defer session.Close()
	endpoint := httptest.NewServer(gateway.New(session, mcp.Implementation{Name: "vmcp", Version: "1"}))
	defer endpoint.Close()

	c, err := client.NewStreamableHttpClient(endpoint.URL + gateway.Path)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	hello, err := c.Initialize(ctx, mcp.InitializeRequest{})
	if err != nil {
		panic(err)
	}
	fmt.Println("tools:", hello.Capabilities.Tools != nil, "prompts:", hello.Capabilities.Prompts != nil)
	listed, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		panic(err)
	}
	fmt.Println(listed.Tools[0].Name)
	// Output:
	// tools: true prompts: false
	// docs_search
}
