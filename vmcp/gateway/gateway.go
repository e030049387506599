package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Path is where the endpoint is over HTTP.
const Path = "/mcp"

// Options say how a gateway serves. A zero field keeps its default.
type Options struct {
	// Info is what clients are told about the gateway.
	Info mcp.Implementation
	// Logger gets what no client can be told. Nil discards.
	Logger *slog.Logger
	// Tokens say who may call over HTTP; nil means everybody who reaches it.
	Tokens *Tokens
	// Idle is how long a caller may neither ask nor listen before his session
	// ends, 30 minutes by default. The next request builds another one. The
	// session that was used last stays until its place is needed.
	Idle time.Duration
	// NoStatusTool leaves the built-in tool [StatusTool] out.
	NoStatusTool bool
	// Sessions bounds the callers' sessions, and the connections of clients,
	// 1,000 by default; Calls the requests that are answered at the same time,
	// 1,000 by default; Body a request's length in bytes, 16 MiB by default.
	Sessions, Calls int
	Body            int64
	// MeterProvider and TracerProvider measure and trace what callers ask; nil
	// means OpenTelemetry's global ones.
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
	// Observer is told what the sessions learn; nil if nobody wants to know.
	Observer Observer
}

// An Observer is told how the backends stand, by any number of goroutines. It
// must not block.
type Observer interface {
	// Set is told of all backends of a session.
	Set(report vmcp.Report)
	// Update is told of a backend whose state has just changed.
	Update(backend vmcp.BackendReport)
	// SetSessions is told how many sessions there are.
	SetSessions(n int)
}

type nobody struct{}

func (nobody) Set(vmcp.Report)           {}
func (nobody) Update(vmcp.BackendReport) {}
func (nobody) SetSessions(int)           {}

// A Gateway serves a session to each caller at one MCP endpoint. It is safe for
// concurrent use.
type Gateway struct {
	Options
	builder  *vmcp.Builder
	endpoint *endpoint.Endpoint
	incoming *middleware.Endpoint
	ends     sync.Map        // of a connected client to what ends the measuring of its session
	states   string          // what the requestStates of this gateway begin with
	applying chan struct{}   // full while the backends are changed
	life     context.Context // of the sessions, and of what runs beside requests
	end      context.CancelFunc
	running  lifetime.Group // what runs beside requests; ends with life

	mu       sync.Mutex
	backends []vmcp.Backend
	callers  map[key]*caller
}

// New returns a gateway that builds the sessions with the builder, whose fields
// must not change afterwards. The caller shuts it down.
func New(builder *vmcp.Builder, backends []vmcp.Backend, options Options) *Gateway {
	options = options.withDefaults()
	g := &Gateway{
		Options: options, builder: builder, backends: backends, callers: map[key]*caller{},
		states: statePrefix + rand.Text() + "-", applying: make(chan struct{}, 1),
	}
	g.life, g.end = context.WithCancel(context.Background())
	g.incoming = middleware.NewEndpoint(options.MeterProvider, middleware.WithTracerProvider(options.TracerProvider), middleware.WithPropagator(builder.Propagator))
	g.endpoint = endpoint.New(handler{g}, endpoint.Options{
		Info: options.Info, Logger: options.Logger, Idle: options.Idle,
		Body: options.Body, Sessions: options.Sessions, Calls: options.Calls,
	})
	g.running.Go(g.sweep)
	return g
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Idle <= 0 {
		o.Idle = 30 * time.Minute
	}
	if o.Sessions <= 0 {
		o.Sessions = 1_000
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	return o
}

// Check builds the session of the caller who is nobody and can be asked
// nothing, so that there is a report of all backends before anybody calls. The
// first such caller finds his session ready. The errors are those of
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
