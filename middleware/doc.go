// Package middleware has the middlewares for the chain of package mcpclient,
// one to a file: [Logging], [Pages], [Tolerance], [Tracing] and [Metrics], and
// [Default], which puts them in the recommended order:
//
//	caller -> Logging -> Pages -> Tolerance -> Tracing -> Metrics -> mcp-go client -> server
//
// They take a *slog.Logger and OpenTelemetry's API; the SDK and the exporters are
// the program's. What they write into the log has its words from package events,
// what they measure and trace from package instrument.
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
// The chain hands every other failure on. What becomes of a backend then is the
// session's to decide, in package vmcp: the failure of tools/list, and by default
// that of resources/list and prompts/list, fails the backend; that of
// resources/templates/list degrades it, and it keeps its tools.
//
// Over HTTP the rule needs package wire under mcp-go's transport. Without it
// mcp-go v1.2.1 takes the HTTP 404 that protocol 2026-07-28 requires with
// -32601 for the end of the session, and a -32601 inside a 403 or a 503 for
// the server's word. Package connect puts it there; where a client of mcp-go's own
// lacks it a WARN says so once. For such a client it is two lines:
//
//	over := &http.Client{Transport: &wire.Transport{}}
//	inner, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(over))
package middleware
