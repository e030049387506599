// Package wire lets an MCP client see what the server really said over HTTP.
//
// It is an [http.RoundTripper] that goes under the HTTP transports of
// github.com/mark3labs/mcp-go:
//
//	httpClient := &http.Client{Transport: &wire.Transport{}}
//	t, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(httpClient))
//	c := client.NewClient(t)
//
//	mcp-go client -> mcp-go transport -> http.Client -> wire.Transport -> Base -> server
//
// For the legacy SSE transport the option is transport.WithHTTPClient. Options
// that change the client, such as transport.WithHTTPTimeout, come after it.
//
// # What it mends
//
// Each of these was measured with mcp-go v1.2.1 and is a test of this package.
//
//   - Protocol 2026-07-28 requires HTTP 404 with a JSON-RPC error -32601 for a
//     method the server does not have. mcp-go reports every 404 as
//     transport.ErrSessionTerminated, unread, and on older protocols ends the
//     session, so that every later call fails too. [Transport] hands such an
//     answer on with status 200 when it carries the id of the very request it
//     answers; the caller then gets mcp.ErrMethodNotFound. To a notification,
//     which has no answer, such a 404 is a [*StatusError]; one server answers
//     notifications/cancelled so. Every other 404 passes as it is.
//   - mcp-go takes the body of any failed POST that is JSON for a JSON-RPC
//     response. A 503 with {"message":"unavailable"} has no error member, so
//     Ping and SetLevel return nil. [Transport] returns a [*StatusError]
//     instead, unless the body is a JSON-RPC error that mcp-go can read.
//   - A 4xx to initialize is transport.ErrLegacySSEServer for mcp-go, whatever
//     the body says. [Transport] hands a JSON-RPC error with the request's id on
//     with status 200, so that the caller learns why the handshake was refused.
//   - [http.Client] sends custom headers along when a redirect leaves the host:
//     X-Api-Key, Mcp-Session-Id, Mcp-Param-*. [Transport] sends a redirected
//     request that left the origin of the first one with harmless headers only.
//   - mcp-go reads bodies without a bound. [Transport] sets one; see
//     [BodyTooLargeError].
//   - mcp-go takes whatever a POST is answered with for its answer. [Transport]
//     compares the ids of what comes under a success, as JSON or in an event
//     stream; see [MismatchError]. An error without an id answers the request.
//
// # What is a failure
//
// A POST is what the caller sent as one: a redirect that turned it into a GET
// does not change that. Its answer is read when the status is not a success,
// in this order:
//
//	101, other 1xx, 2xx        passes
//	401                        passes: mcp-go's OAuth flow needs the response
//	301, 302, 303, 307, 308    passes where there is a Location to follow
//	404, streamable HTTP       a -32601 with this request's id: status 200; a -32601
//	                           to a notification, and on 2026-07-28, which has no
//	                           sessions, anything else: *StatusError; else passes
//	404, legacy SSE            passes: there the answer travels on another stream
//	other 4xx to initialize    a JSON-RPC error with this request's id: status 200
//	429                        *StatusError, whatever the body is
//	anything else              passes where it is a JSON-RPC error, else *StatusError
//
// A -32601 inside a 403 or inside a 5xx other than 501 is not believed: a proxy
// that refuses or fails knows nothing about methods. It becomes a
// [*StatusError] too. Of the body at most 64 KiB are read to decide, so a
// JSON-RPC error longer than that is not recognised as one. The body must be
// what mcp-go decodes: {"error":{"code":-32000,...}} and {"error":"text"} are
// errors, with or without jsonrpc and id; {"error":{"code":"busy"}} is not.
//
// Answers to GET and DELETE pass whatever their status: there mcp-go knows what
// a 405 or a 404 means.
//
// # What it tells
//
// mcp-go flattens a JSON-RPC code that no specification names to text, and hands on
// no bytes. Whoever wants them puts an [Exchange] into the context of a call:
// Transport tells it the error or the result of the answer, JSON or event stream,
// with the id of the request, the server, the version of HTTP, and what it did not
// let pass. Package connect does the same for all of its transports. What was told
// is also how package mcpclient finds a list of tools that is missing, of which
// mcp-go makes an empty one on protocol 2026-07-28.
//
// # What it leaves alone
//
// A 404 to initialize that passes is still transport.ErrLegacySSEServer for the
// caller. A 2xx that is none of mcp-go's, such as 201, passes although mcp-go
// reads it as loosely as a failure. Redirects are followed, or not, by
// [http.Client]; one that leaves the host with a 307 or 308 takes the request's
// body along. A header added by a RoundTripper below this one, as Base, is out
// of its reach: what adds credentials belongs above it.
package wire
