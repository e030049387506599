package gateway

import (
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The defaults of [Options].
const (
	DefaultIdle     = 30 * time.Minute
	DefaultSessions = 256
	DefaultCalls    = 1024
	DefaultBody     = 16 << 20 // bytes
)

// Options say how a gateway serves. A zero field keeps its default.
type Options struct {
	// Info is what clients are told about the gateway.
	Info mcp.Implementation
	// Logger gets what no client can be told. Nil discards.
	Logger *slog.Logger
	// Tokens say who may call over HTTP; nil means everybody who reaches it.
	Tokens *Tokens
	// Idle is how long a caller may neither ask nor listen before its session
	// ends, [DefaultIdle] by default. The next request builds another one. The
	// session that was used last stays until its place is needed.
	Idle time.Duration
	// NoStatusTool leaves the built-in tool [StatusTool] out.
	NoStatusTool bool
	// Sessions bounds the callers' sessions, the connections of clients and the
	// open streams, [DefaultSessions] of each by default.
	Sessions int
	// Calls bounds the requests that are answered at the same time, open streams
	// aside, [DefaultCalls] by default.
	Calls int
	// Body bounds a request's length in bytes, [DefaultBody] by default.
	Body int64
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

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Sessions <= 0 {
		o.Sessions = DefaultSessions
	}
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	if o.Body <= 0 {
		o.Body = DefaultBody
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	return o
}
