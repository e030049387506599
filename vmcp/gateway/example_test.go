package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	g := gateway.New(&vmcp.Builder{}, []vmcp.Backend{{ID: "docs", Connector: connect.To(backend)}},
		gateway.Options{Info: mcp.Implementation{Name: "vmcp", Version: "1"}})
	defer g.Shutdown(ctx)
	mux := http.NewServeMux()
	mux.Handle(gateway.Path, g)
	endpoint := httptest.NewServer(mux)
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
	for _, tool := range listed.Tools {
		fmt.Println(tool.Name)
	}
	// Output:
	// tools: true prompts: false
	// docs_search
	// vmcp_status
}
