package middleware

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/metric"
)

// Metrics measures each request in mcp.client.operation.duration, each
// connection, from its handshake to Close, in mcp.client.session.duration, and
// counts the requests in flight in candor.client.active_requests, until Close. The first two
// are named, described and attributed as the OpenTelemetry semantic conventions
// for MCP say. A resource URI, a session id, a request id, an argument or a
// result never becomes an attribute, and names that others make up are bounded
// by an [instrument.SeriesLimit].
//
// What nobody sends is not measured: on protocol 2026-07-28 Ping, SetLevel,
// Subscribe and Unsubscribe. There the handshake is called server/discover.
// A session that the server or the transport ended has that as its error.type,
// as has one whose Close failed.
//
// The exact code of a JSON-RPC error and the attributes network.* and server.*
// come from a [wire.Exchange] that package connect and wire.Transport fill;
// [WithAttributes] adds to them and wins.
//
// A measurement costs two allocations; nothing is spent where all instruments
// are off. A nil provider means OpenTelemetry's global one.
func Metrics(provider metric.MeterProvider, opts ...Option) mcpclient.Middleware {
	o := apply(opts)
	config := o.measuring(provider)
	return func(next mcpclient.Handler) mcpclient.Handler {
		m := &metrics{next: next, durations: instrument.ClientDurations(config), active: instrument.NewActiveRequests(config)}
		return m.handle
	}
}

// metrics measures one client.
type metrics struct {
	next      mcpclient.Handler
	durations *instrument.Durations
	active    *instrument.ActiveRequests

	started atomic.Pointer[time.Time]
	broken  atomic.Pointer[string] // the error.type that the session ended with
	peer    atomic.Pointer[wire.Peer]
}

func (m *metrics) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	switch {
	case call.Method == "":
		return m.close(ctx, call)
	case sendsNothing(call) || !m.durations.Enabled(ctx):
		return m.next(ctx, call)
	}
	m.active.Begin()
	defer m.active.End()
	ctx, exchange := wire.WithExchange(ctx)
	start := time.Now()
	result, err := m.next(ctx, call)
	outcome := instrument.OutcomeOf(ctx, call, result, err, time.Since(start), exchange)
	m.measure(ctx, outcome, start)
	return result, err
}

func (m *metrics) measure(ctx context.Context, outcome instrument.Outcome, start time.Time) {
	if outcome.Call.Method == mcp.MethodInitialize && outcome.Err == nil {
		m.ended(ctx, outcome) // a handshake begins another session
		m.started.Store(new(start))
	}
	if outcome.Err != nil && outcome.EndsSession() {
		m.broken.CompareAndSwap(nil, new(outcome.ErrorType()))
	}
	about := instrument.Series{Request: instrument.EndedRequest(outcome), Connection: m.connection(outcome)}
	m.durations.Operation(ctx, outcome.Duration, about)
}

func (m *metrics) connection(outcome instrument.Outcome) instrument.Connection {
	return instrument.Connection{ProtocolVersion: protocolVersion(outcome.Call), Peer: m.remembered(outcome.Facts().Peer)}
}

// remembered is the other end, as far as it was ever known: a request that got
// no answer does not say with which version of HTTP it would have come.
func (m *metrics) remembered(peer wire.Peer) wire.Peer {
	known := m.peer.Load()
	switch {
	case known != nil && *known == peer:
		return peer
	case known != nil && (peer.Transport == "" || peer.ProtocolVersion == ""):
		return *known
	case peer != wire.Peer{}:
		m.peer.Store(new(peer))
	}
	return peer
}

func (m *metrics) close(ctx context.Context, call mcpclient.Call) (any, error) {
	result, err := m.next(ctx, call)
	m.ended(ctx, instrument.OutcomeOf(ctx, call, result, err, 0, nil))
	m.active.Close()
	return result, err
}

// ended measures the session once, where there is one. Of an operation's
// attributes a session has the protocol version, the other end and the error.
func (m *metrics) ended(ctx context.Context, closing instrument.Outcome) {
	start := m.started.Swap(nil)
	if start == nil {
		return
	}
	end := instrument.Series{Connection: m.connection(closing)}
	if broken := m.broken.Swap(nil); broken != nil {
		end.ErrorType = *broken
	} else if closing.Err != nil {
		end.ErrorType = closing.ErrorType()
	}
	m.durations.Session(ctx, time.Since(*start), end)
}
