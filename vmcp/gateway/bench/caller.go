package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
)

// caller is a plain client of mcp-go, and the tool that it calls.
type caller struct {
	*client.Client
	tool string
}

// newCaller connects to a backend, or to a gateway, and makes the handshake.
func newCaller(ctx context.Context, target connect.Target, protocol, tool string) (*caller, error) {
	over, err := dial(target)
	if err != nil {
		return nil, err
	}
	c := client.NewClient(over, client.WithProtocolVersion(protocol))
	if err := c.Start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	hello := mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: mcp.Implementation{Name: "bench", Version: "1"}}}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &caller{c, tool}, nil
}

func dial(target connect.Target) (transport.Interface, error) {
	switch target := target.(type) {
	case connect.HTTP:
		own := http.DefaultTransport.(*http.Transport).Clone()
		return transport.NewStreamableHTTP(target.URL, transport.WithHTTPBasicClient(&http.Client{Transport: own}))
	case connect.Stdio:
		return transport.NewStdio(target.Command, nil, target.Args...), nil
	default:
		return nil, fmt.Errorf("no client for a %T", target)
	}
}

// call calls the tool once.
func (c *caller) call(ctx context.Context) error {
	result, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{
		Name: c.tool, Arguments: map[string]any{"query": "what is it", "limit": 3},
	}})
	if err == nil && result.IsError {
		err = errors.New("the tool failed")
	}
	return err
}

// list lists all tools.
func (c *caller) list(ctx context.Context, want int) error {
	result, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err == nil && len(result.Tools) < want {
		err = fmt.Errorf("%d tools instead of %d", len(result.Tools), want)
	}
	return err
}
