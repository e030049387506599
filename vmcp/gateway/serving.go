package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// Path is where the endpoint is over HTTP.
const Path = "/mcp"

// New returns a gateway that builds the sessions with the builder, whose fields
// must not change afterwards. The caller shuts it down.
func New(builder *vmcp.Builder, backends []vmcp.Backend, options Options) *Gateway {
	options = options.withDefaults()
	g := &Gateway{
		Options: options, builder: builder, backends: backends, callers: map[key]*caller{},
		states: statePrefix + rand.Text() + "-", applying: make(chan struct{}, 1),
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.incoming = instrument.NewServer(instrument.Config{MeterProvider: options.MeterProvider, TracerProvider: options.TracerProvider, Propagator: builder.Propagator})
	g.endpoint = endpoint.New(handler{g}, endpoint.Options{
		Info: options.Info, Logger: options.Logger, Idle: options.Idle,
		Body: options.Body, Sessions: options.Sessions, Calls: options.Calls,
	})
	g.running.Go(g.sweep)
	return g
}

// Check builds the session of the caller that is nobody and can be asked
// nothing, so that there is a report of all backends before anybody calls. The
// first such caller finds its session ready. The errors are those of
// [vmcp.Builder.Build].
func (g *Gateway) Check(ctx context.Context) (vmcp.Report, error) {
	c, err := g.caller(ctx, key{})
	if err != nil {
		return vmcp.Report{}, err
	}
	defer c.release()
	return c.session.Report(), nil
}

// ServeHTTP serves the endpoint. It refuses requests that a page of another
// origin makes a browser send, and those without a token, if there are tokens.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Guard(g.endpoint).ServeHTTP(w, r)
}

// ServeStdio serves one caller over in and out until in has ended and what was
// asked is answered, 5 s at most, or until ctx ends.
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return g.endpoint.ServeStdio(ctx, in, out)
}

// Shutdown refuses new requests, waits for those that are being answered until
// ctx ends, and closes all sessions.
func (g *Gateway) Shutdown(ctx context.Context) error {
	err := g.endpoint.Shutdown(ctx)
	g.running.Close()
	g.end()
	g.running.Wait()
	g.mu.Lock()
	ending := g.callers
	g.callers = map[key]*caller{}
	g.Observer.SetSessions(0)
	g.mu.Unlock()
	return errors.Join(err, closeAll(ending))
}
