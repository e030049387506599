// Package middleware has the middlewares for the chain of package mcpclient,
// one to a file: [Logging], [Pages], [Tolerance], [Tracing] and [Metrics], and
// [Default], which puts them in the recommended order:
//
//	caller -> Logging -> Pages -> Tolerance -> Tracing -> Metrics -> mcp-go client -> server
//
// [Endpoint] records the other side of a call in the same words, and
// [Instruments] what happens to backends. All of them take a *slog.Logger and
// OpenTelemetry's API; the SDK and the exporters are the program's.
//
// # The rule of tolerance
//
// Exactly one contradiction is forgiven: a server advertised resources or
// prompts in its handshake and answers the first page of the list with
// JSON-RPC -32601 "Method not found". The caller gets an empty list, the log
// one WARN, and a counter goes up. Everything else stays what it was:
//
//	what the server does                                       advertised   the caller gets
//	-32601 on the first page of resources/list,                yes          an empty, non-nil list
//	  resources/templates/list, prompts/list
//	the same                                                   no, unknown  the error
//	-32601 on a later page                                     any          the error, with what was received
//	-32601 on tools/list                                       yes          the error, also a *ContradictionError
//	any other code, time-out, cancellation, transport or       any          the error
//	  HTTP failure, body that cannot be decoded
//	-32601 on completion/complete, logging/setLevel            yes          the error, unless WithUtilities
//	-32601 on resources/subscribe                              yes          the error
//	a result without a list ({} or null) for resources,        any          an empty, non-nil list
//	  prompts
//	the same for tools                                         any          the error, a *ContradictionError
//
// The test is the typed code and what this connection's server advertised,
// never the text of a message. An advertised capability is a non-nil pointer
// in [mcp.ServerCapabilities]: {} advertises, null does not.
//
// Over HTTP the rule needs package wire under mcp-go's transport. Without it
// mcp-go v1.2.1 takes the HTTP 404 that protocol 2026-07-28 requires with
// -32601 for the end of the session, and a -32601 inside a 403 or a 503 for
// the server's word. Package connect puts it there; where a client of mcp-go's own
// lacks it a WARN says so once. For such a client it is two lines:
//
//	over := &http.Client{Transport: &wire.Transport{}}
//	inner, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(over))
//
// # The code of a failure
//
// Log, metrics and spans name the exact JSON-RPC code of a failure, although
// mcp-go flattens the codes that no specification names to text: an Exchange of
// package wire travels in the context of the call, and who does the request, the
// transports of package connect or a wire.Transport, tells it the code of the
// answer, over streamable HTTP with JSON or an event stream, HTTP+SSE, stdio and
// in-process alike. Over a transport that tells nothing such an error has the
// error.type _OTHER and no code.
package middleware
