package connect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Timeouts bound the stages of a connection, each for itself; a zero field
// keeps its default. A shorter deadline of the caller's context wins.
type Timeouts struct {
	// Probe is how long server/discover may stay unanswered before initialize
	// is sent, 5 s by default.
	Probe time.Duration
	// Handshake is how long start and initialize may take, without the
	// probe, 10 s by default. A fallback has as long again.
	Handshake time.Duration
	// Verification is how long the request of [FirstPage] may take, 10 s by default.
	Verification time.Duration
}

func (t Timeouts) or(defaults Timeouts) Timeouts {
	if t.Probe <= 0 {
		t.Probe = defaults.Probe
	}
	if t.Handshake <= 0 {
		t.Handshake = defaults.Handshake
	}
	if t.Verification <= 0 {
		t.Verification = defaults.Verification
	}
	return t
}

// An Option changes a setting of a [Connector].
type Option func(*options)

type options struct {
	logger    *slog.Logger
	timeouts  Timeouts
	version   string
	info      mcp.Implementation
	client    []client.ClientOption
	listening bool
	reopened  func()
	maxBody   int64
	fellBack  func(ctx context.Context, version string)
}

func defaults() options {
	return options{
		logger:   slog.New(slog.DiscardHandler),
		reopened: func() {},
		fellBack: func(context.Context, string) {},
		timeouts: Timeouts{Probe: 5 * time.Second, Handshake: 10 * time.Second, Verification: 10 * time.Second},
		info:     mcp.Implementation{Name: "candor", Version: "0.1.0"},
	}
}

// OnFallback makes the connector call f for each connection that has to be made
// on an older protocol than it was asked for, with the version; those that the
// connector makes on it from the start, as it remembers, are none. Each f that is
// given is called, so that [Connector.With] keeps those that there are.
func OnFallback(f func(ctx context.Context, version string)) Option {
	return func(o *options) {
		before := o.fellBack
		if f != nil {
			o.fellBack = func(ctx context.Context, version string) { before(ctx, version); f(ctx, version) }
		}
	}
}

// WithLogger sets where the WARN of a protocol fallback goes; repeats of one
// connector are DEBUG. Nil, the default, discards it.
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

// WithClientOptions adds options for mcp-go's client, such as the handlers of
// what a server may ask its client for ([client.WithSamplingHandler],
// [client.WithElicitationHandler], [client.WithRootsHandler]); a server is told
// of those that there are. Over [SSE] there are none: mcp-go v1.2.1 does not
// answer there. What the connector sets itself, such as the protocol, stays.
func WithClientOptions(opts ...client.ClientOption) Option {
	return func(o *options) { o.client = append(slices.Clip(o.client), opts...) }
}

// WithListening makes a connection hear what the server says unasked, as
// [client.Client.OnNotification] tells it, for as long as it is open: see the
// package comment. Without it that is up to the transport: over [Stdio] and
// [SSE] everything comes on an older protocol, over [HTTP] only what the server
// says while it answers a request.
func WithListening() Option {
	return func(o *options) { o.listening = true }
}

// OnReopened makes [WithListening] call f whenever the stream is open again after
// it ended: what the server said meanwhile is lost, and its lists may have
// changed. f must not block. Each f that is given is called, as with [OnFallback].
func OnReopened(f func()) Option {
	return func(o *options) {
		before := o.reopened
		if f != nil {
			o.reopened = func() { before(); f() }
		}
	}
}

// WithMaxBody bounds what a server may send at once, in bytes: one answer over
// HTTP, one event of a stream, one line over stdio. Zero or less means
// [wire.DefaultMaxBody]. A longer one is a [*wire.BodyTooLargeError], and over
// stdio ends the connection. It has no effect on a target of your own.
func WithMaxBody(bytes int64) Option {
	return func(o *options) { o.maxBody = bytes }
}
