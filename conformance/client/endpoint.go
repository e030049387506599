package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
)

// endpoint is the scenario's server, and the way to it.
type endpoint struct {
	url      string
	scenario scenario
	chain    bool
}

// visit connects and uses what the server offers, after a login where the
// server asks for one.
func (e endpoint) visit(ctx context.Context) error {
	err := e.connectAndUse(ctx)
	if !client.IsAuthorizationRequiredError(err) {
		return err
	}
	authorized, err := login(ctx, e.url, client.GetResourceMetadataURL(err), e.scenario)
	if err != nil {
		return err
	}
	return e.connectAndUse(ctx, transport.WithHTTPOAuth(authorized))
}

func (e endpoint) connectAndUse(ctx context.Context, opts ...transport.StreamableHTTPCOption) (err error) {
	stream := newStream()
	if e.scenario.listens() {
		opts = append(opts, transport.WithContinuousListening())
	}
	c, err := e.open(ctx, stream, opts)
	if err != nil {
		return err
	}
	defer func() {
		if closing := c.Close(); err == nil {
			err = closing
		}
	}()
	info := mcp.Implementation{Name: "candor-conformance", Version: "1.0.0"}
	server, err := c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: info}})
	if err != nil {
		return err
	}
	if e.scenario.listens() {
		if err := stream.wait(ctx); err != nil {
			return err
		}
	}
	return e.scenario.use(ctx, c, server.Capabilities)
}

// open returns a started client. Whether there is a chain changes these two
// things and nothing else.
func (e endpoint) open(ctx context.Context, base http.RoundTripper, opts []transport.StreamableHTTPCOption) (client.MCPClient, error) {
	if e.chain {
		base = &wire.Transport{Base: base}
	}
	opts = append(opts, transport.WithHTTPBasicClient(&http.Client{Transport: base}))
	t, err := transport.NewStreamableHTTP(e.url, opts...)
	if err != nil {
		return nil, err
	}
	inner := client.NewClient(t,
		client.WithProtocolVersion(e.scenario.Version),
		client.WithDiscoverTimeout(-1), // on a busy machine a slow answer is no old server
		client.WithElicitationHandler(accepting{}))
	if err := inner.Start(ctx); err != nil {
		return nil, err
	}
	if !e.chain {
		return inner, nil
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return mcpclient.Wrap(inner, middleware.Default(logger, nil)), nil
}
