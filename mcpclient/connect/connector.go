package connect

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// A Connector opens connections to one target. It remembers that a server
// needed an older protocol and spares the next connection the detour. It is
// safe for concurrent use.
type Connector struct {
	target  Target
	options options
	secrets []string // of the target
	legacy  atomic.Bool
}

// Timeouts bound the stages of a connection, each for itself; a zero field
// keeps its default. A shorter deadline of the caller's context wins.
type Timeouts struct {
	// Probe is how long server/discover may stay unanswered before initialize
	// is sent, 5 s by default.
	Probe time.Duration
	// Handshake is how long start and initialize may take, without the
	// probe, 10 s by default. A fallback has as long again.
	Handshake time.Duration
	// Proof is how long the request of [FirstPage] may take, 10 s by default.
	Proof time.Duration
}

func (t Timeouts) or(defaults Timeouts) Timeouts {
	if t.Probe <= 0 {
		t.Probe = defaults.Probe
	}
	if t.Handshake <= 0 {
		t.Handshake = defaults.Handshake
	}
	if t.Proof <= 0 {
		t.Proof = defaults.Proof
	}
	return t
}

// An Option changes a setting of a [Connector].
type Option func(*options)

type options struct {
	logger   *slog.Logger
	timeouts Timeouts
	version  string
	info     mcp.Implementation
}

// WithLogger sets where the WARN of a protocol fallback goes. Nil, the
// default, discards it.
func WithLogger(logger *slog.Logger) Option {
	return func(o *options) {
		if logger != nil {
			o.logger = logger
		}
	}
}

// WithTimeouts changes the time-outs that are not zero.
func WithTimeouts(timeouts Timeouts) Option {
	return func(o *options) { o.timeouts = timeouts.or(o.timeouts) }
}

// WithProtocolVersion pins the protocol that is asked for, one of
// [mcp.ValidProtocolVersions]: there is no fallback. Below 2026-07-28 there is
// no probe, and the server may settle for an older one in the handshake.
func WithProtocolVersion(version string) Option {
	return func(o *options) { o.version = version }
}

// WithClientInfo sets the name and version that the server is told.
func WithClientInfo(info mcp.Implementation) Option {
	return func(o *options) { o.info = info }
}

// To returns a connector for the target, which must not change afterwards.
func To(target Target, opts ...Option) *Connector {
	c := &Connector{target: target, secrets: secretsOf(target), options: options{
		logger:   slog.New(slog.DiscardHandler),
		timeouts: Timeouts{Probe: 5 * time.Second, Handshake: 10 * time.Second, Proof: 10 * time.Second},
		info:     mcp.Implementation{Name: "candor", Version: "0.1.0"},
	}}
	for _, opt := range opts {
		if opt != nil {
			opt(&c.options)
		}
	}
	return c
}

// Target returns what the connector connects to.
func (c *Connector) Target() Target { return c.target }

// String names the target, without secrets.
func (c *Connector) String() string { return nameOf(c.target) }

// Open connects to the target with default settings; see [Connector.Open].
func Open(ctx context.Context, target Target, middlewares ...mcpclient.Middleware) (*mcpclient.Client, error) {
	return To(target).Open(ctx, middlewares...)
}

// Open returns a client that has been started, wrapped in the middlewares,
// initialised and proven by [FirstPage]. The caller closes it; it outlives
// ctx, which bounds the opening only. A failure is an [*Error].
func (c *Connector) Open(ctx context.Context, middlewares ...mcpclient.Middleware) (*mcpclient.Client, error) {
	return c.OpenProving(ctx, c.firstPage, middlewares...)
}
