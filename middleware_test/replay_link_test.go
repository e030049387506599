package middleware_test

import (
	"context"
	"io"
	"net/http/httptest"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
)

// link is a way to a scripted server, in one of the protocol's eras.
type link struct {
	transport, era string
	// serve makes the server reachable until stop is called.
	serve func(*badserver.Server) (target connect.Target, stop func())
}

var links = []link{
	{"HTTP", legacy, overHTTP},
	{"HTTP", modern, overHTTP},
	{"stdio", legacy, overStdio},
	{"stdio", modern, overStdio},
	{"in-process", legacy, inProcess},
	{"in-process", modern, inProcess},
}

func (w link) String() string { return w.transport + " " + w.era }

func (w link) isModern() bool { return w.era == modern }

func overHTTP(s *badserver.Server) (connect.Target, func()) {
	endpoint := httptest.NewServer(s)
	return connect.HTTP{URL: endpoint.URL}, func() { _ = s.Close(); endpoint.Close() }
}

func inProcess(s *badserver.Server) (connect.Target, func()) {
	return s, func() { _ = s.Close() }
}

func overStdio(s *badserver.Server) (connect.Target, func()) {
	p := &pipes{server: s}
	return p, func() { _ = s.Close(); p.serving.Wait() }
}

// pipes is a target whose connections are stdio without a process.
type pipes struct {
	server  *badserver.Server
	serving sync.WaitGroup
}

func (p *pipes) Dial(context.Context) (transport.Interface, error) {
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	p.serving.Go(func() { _ = p.server.Serve(context.Background(), stdin, stdout) })
	return transport.NewIO(fromServer, toServer, nil), nil
}

func (p *pipes) String() string { return "stdio" }
