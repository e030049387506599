// Package connect makes a client out of the description of a server: it
// starts the transport, wraps the client in a chain, performs the handshake and
// makes sure that the server does what it agreed to.
//
//	client, err := connect.Open(ctx, connect.HTTP{URL: "https://mcp.example.com/mcp"},
//		middleware.Default(logger, nil))
//	if err != nil { ... }
//	defer client.Close()
//
// A [Target] describes a server: [HTTP], [SSE], [Stdio] or [InProcess], or your
// own. A [Connector] is a target with settings, and remembers which protocol
// worked. [Connector.With] makes one with further settings for the same server,
// which shares what is learnt about it: a session over many servers adds its own
// handlers so, whoever made the connector.
//
// # The handshake
//
// mcp-go first asks server/discover, the way of protocol 2026-07-28, and falls
// back to initialize on the same connection. That leaves three kinds of real
// servers behind, measured with mcp-go v1.2.1:
//
//   - one that exits on any first message but initialize;
//   - one that never answers a method it does not know. Where initialize then
//     works on the same connection it is kept, since starting a slow server
//     twice would cost more; where it does not, the connection is given up;
//   - one that answers server/discover and then refuses every request with an
//     unsupported-protocol error: mcp-go's client cannot be used again.
//
// For each, Open closes the connection and opens a fresh one, once, on
// [mcp.LATEST_LEGACY_PROTOCOL_VERSION], with a WARN whose event is
// [events.ProtocolFallback]. The connector remembers, so that its next Open goes
// straight there. A failure that another protocol cannot mend (a command that
// does not exist, a refused connection, a certificate that is not trusted, an
// HTTP status, a missing authorization) is returned at once.
//
// On protocol 2026-07-28 a connection counts as verified once a real request was
// answered; mcp-go's Ping sends none there. See [Verification].
//
// # Listening
//
// A connection [WithListening] hears what the server says when nobody asked it.
// On an older protocol over HTTP that is mcp-go's GET, sent once the handshake
// is over; on 2026-07-28, over every transport, a request for
// subscriptions/listen, for changes of the lists that the server says it tells
// of, and for the resources that the client subscribes to, of which
// Subscribe then waits for the server's acknowledgement. A server that does not
// have it is asked once. A stream that ends is opened again, after one second
// at first and after a minute at most; see [OnReopened].
//
// Over HTTP a handler of [WithClientOptions] may take as long as it wants:
// mcp-go itself would give it 30 seconds.
//
// # A server that asks to wait
//
// Over HTTP a server that answers with Retry-After is left alone until then, for a
// minute at most: by the handshake, without costing its time, by lists and by calls
// whose context allows it. A request is then sent again only if it was certainly not
// looked at, as with HTTP 429, or may be done twice.
//
// # What mcp-go's client keeps to itself
//
// The transports of this package tell the [wire.Exchange] of a call's context more
// than the client returns: the exact JSON-RPC error, each result as the server wrote
// it, and what logs, metrics and traces need. [NewMultiRoundTrip] is for who conducts the
// multi round-trip requests of protocol 2026-07-28 itself. [Ended] says when a process
// has ended; package failure what kind of failure an error is and what a person can do
// about it.
//
// No answer of another request is taken for one: over HTTP it is a
// [*wire.MismatchError]; where all answers share a stream, over stdio and HTTP+SSE,
// mcp-go waits for the right one. A line on standard output that is a log record,
// in JSON or not, answers nothing.
//
// # Who closes what
//
// Closing the client ends all that Open started: the session, idle
// connections, the process and, on Unix, what the process started in its
// process group. An Open that fails has closed everything itself.
package connect
