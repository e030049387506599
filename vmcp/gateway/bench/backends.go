package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/connect"
)

// backend is a server with as many tools as the plan says, each with a schema
// of ordinary size.
func (p plan) backend() *server.MCPServer {
	s := server.NewMCPServer("backend", "1", server.WithToolCapabilities(true))
	for i := range p.tools {
		s.AddTool(mcp.NewTool(toolName(i),
			mcp.WithDescription("Searches the records of one kind for a text and returns those that have it, newest first."),
			mcp.WithString("query", mcp.Required(), mcp.Description("The text to search for")),
			mcp.WithNumber("limit", mcp.Description("The most records to return")),
			mcp.WithReadOnlyHintAnnotation(true),
		), func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(request.GetString("query", "")), nil
		})
	}
	return s
}

func toolName(i int) string { return "search_" + strconv.Itoa(i) }

func backendID(i int) string { return "backend" + strconv.Itoa(i) }

// targets are where the backends are, once they are started; stop ends those
// that whoever connects to them does not end.
func (p plan) targets(ctx context.Context) (targets []connect.Target, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if p.stdio {
		for range p.backends {
			targets = append(targets, connect.Stdio{Command: self, Args: p.be("stdio")})
		}
		return targets, func() error { return nil }, nil
	}
	servers, err := start(ctx, self, p.be("http")...)
	if err != nil {
		return nil, nil, err
	}
	for range p.backends {
		url := servers.next()
		if url == "" {
			return nil, nil, errors.Join(errors.New("the backends do not say where they are"), servers.stop())
		}
		targets = append(targets, connect.HTTP{URL: url})
	}
	return targets, servers.stop, nil
}

// be are the arguments that make this program the backends.
func (p plan) be(what string) []string {
	return []string{"--be", what, "--backends", strconv.Itoa(p.backends), "--tools", strconv.Itoa(p.tools)}
}

func (p plan) serveStdio(ctx context.Context) error {
	return server.NewStdioServer(p.backend()).Listen(ctx, os.Stdin, os.Stdout)
}

// serveHTTP prints the URL of each backend and serves until it is interrupted.
func (p plan) serveHTTP(ctx context.Context) error {
	for range p.backends {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s := &http.Server{Handler: server.NewStreamableHTTPServer(p.backend()), ReadHeaderTimeout: 10 * time.Second}
		go s.Serve(listener) //nolint:errcheck // it ends with the program
		fmt.Fprintf(os.Stdout, "http://%s/mcp\n", listener.Addr())
	}
	<-ctx.Done()
	return nil
}
