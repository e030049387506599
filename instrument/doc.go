// Package instrument is what is measured and traced of MCP, in the words of the
// OpenTelemetry semantic conventions for it and a few of our own: the
// instruments ([All]), the attributes of a [Series], the bound on how many
// there are ([SeriesLimit]), the spans ([Tracer]) and how a request ended
// ([Outcome]).
//
// A client is measured by the middlewares of package middleware, which are made
// of these parts. [Server] records the other side of a call in the same words,
// and [Backends] what happens to the backends of a session. All take
// OpenTelemetry's API in a [Config]; the SDK and the exporters are the program's.
//
// # The code of a failure
//
// Metrics, spans and log name the exact JSON-RPC code of a failure, although
// mcp-go flattens the codes that no specification names to text: an Exchange of
// package wire travels in the context of the call, and who does the request, the
// transports of package connect or a wire.Transport, tells it the code of the
// answer, over streamable HTTP with JSON or an event stream, HTTP+SSE, stdio and
// in-process alike. Over a transport that tells nothing such an error has the
// error.type _OTHER and no code.
package instrument
