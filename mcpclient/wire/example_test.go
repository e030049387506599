package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// A server answers ping with a 503. mcp-go alone reports a success.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(exampleServer))
	defer server.Close()

	fmt.Println("mcp-go alone:", ping(server.URL, &http.Client{}))

	err := ping(server.URL, &http.Client{Transport: &wire.Transport{}})
	var status *wire.StatusError
	if errors.As(err, &status) {
		fmt.Println("with wire:", status.StatusCode, status.Body, "retry after", status.RetryAfter)
	}
	// Output:
	// mcp-go alone: <nil>
	// with wire: 503 {"message":"unavailable"} retry after 3s
}

func ping(url string, httpClient *http.Client) error {
	ctx := context.Background()
	t, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(httpClient))
	if err != nil {
		return err
	}
	c := client.NewClient(t, client.WithProtocolVersion(mcp.ProtocolVersion20251125))
	defer func() { _ = c.Close() }()
	if err := c.Start(ctx); err != nil {
		return err
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return err
	}
	return c.Ping(ctx)
}

func exampleServer(w http.ResponseWriter, r *http.Request) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.NewDecoder(r.Body).Decode(&message)
	w.Header().Set("Content-Type", "application/json")
	switch message.Method {
	case "initialize":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"example","version":"1"}}}`, message.ID)
	case "ping":
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, `{"message":"unavailable"}`)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}
