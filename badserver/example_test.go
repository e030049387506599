package badserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-candor/candor/badserver"
)

// A server that advertises resources and does not have them.
func Example() {
	server := badserver.New(badserver.Script{
		Capabilities: json.RawMessage(`{"tools":{},"resources":{}}`),
		Answers: map[string][]badserver.Answer{
			"tools/list": {badserver.Tools("search")},
		},
	})
	endpoint := httptest.NewServer(server)
	defer endpoint.Close()
	defer server.Close()

	ctx := context.Background()
	c, err := client.NewStreamableHttpClient(endpoint.URL)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	hello, err := c.Initialize(ctx, mcp.InitializeRequest{})
	if err != nil {
		panic(err)
	}

	fmt.Println("resources advertised:", hello.Capabilities.Resources != nil)
	_, err = c.ListResources(ctx, mcp.ListResourcesRequest{})
	fmt.Println("resources unknown:", errors.Is(err, mcp.ErrMethodNotFound))
	tools, _ := c.ListTools(ctx, mcp.ListToolsRequest{})
	fmt.Println("tools:", len(tools.Tools))
	for _, request := range server.Requests() {
		fmt.Println("received", request.Method)
	}
	// Output:
	// resources advertised: true
	// resources unknown: true
	// tools: 1
	// received server/discover
	// received initialize
	// received notifications/initialized
	// received resources/list
	// received tools/list
}

// The first page works, the second does not; and the first try fails.
func ExampleAnswer_AtCursor() {
	server := badserver.New(badserver.Script{
		Answers: map[string][]badserver.Answer{
			"tools/list": {
				badserver.Fail(mcp.INTERNAL_ERROR, "warming up").Once(),
				badserver.Tools("a").WithNext("p2").AtCursor(""),
				badserver.Fail(mcp.INVALID_PARAMS, "unknown cursor").AtCursor("p2"),
			},
		},
	})
	defer server.Close()

	ctx := context.Background()
	wire, err := server.Dial(ctx)
	if err != nil {
		panic(err)
	}
	c := client.NewClient(wire)
	defer c.Close()
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		panic(err)
	}

	for range 2 {
		_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		fmt.Println(err)
	}
	// Output:
	// internal error: warming up
	// invalid params: unknown cursor
}
