// Package badserver is an MCP server that breaks its promises on purpose, to
// test clients with. Honest servers are easy to come by; this one advertises
// what it does not have, answers in shapes that no specification knows, falls
// silent, hangs up or dies, exactly as its [Script] says and no more.
//
// A server that advertises resources and does not have them, over HTTP:
//
//	server := badserver.New(badserver.Script{
//		Capabilities: json.RawMessage(`{"tools":{},"resources":{}}`),
//		Answers: map[string][]badserver.Answer{
//			"tools/list": {badserver.Tools("search")},
//		},
//	})
//	endpoint := httptest.NewServer(server)
//	defer endpoint.Close()
//	defer server.Close() // before the endpoint, which waits for hanging requests
//	// point your client at endpoint.URL: resources/list answers -32601
//
// The same script runs on four transports:
//
//	streamable HTTP   the Server itself, an http.Handler
//	HTTP+SSE          Server.SSE, an http.Handler
//	stdio             Server.Serve, on any reader and writer
//	in-process        Server.Dial, a transport for mcp-go's client.NewClient
//
// # What can be scripted
//
//	to have the server ...                     set in the Answer
//	answer with a result, of any shape         Result, or Tools(...), Prompts(...), ...
//	answer with an error                       Error, or Fail(code, message)
//	answer with an error that is a string      ErrorText
//	answer with something else altogether      Body, ContentType, or Plain(status, text)
//	answer another request's id                ID
//	answer with an HTTP status, or headers     Status, Headers
//	answer in a stream, and speak around it    SSE, Before, After
//	answer late, or never                      Delay, Hang
//	hang up in the middle, or die              Cut, Exit
//	print to stdout                            Noise
//	do so the first N times only               Times, or Once()
//	do so for one page only                    Cursor, or AtCursor(cursor)
//	do so for clients of one protocol version  Protocol
//
// The answers of a method are tried in their order in the slice, so the second
// page can fail, or the first try:
//
//	"tools/list": {
//		badserver.Plain(503, "warming up").Once(),
//		badserver.Tools("a").WithNext("p2").AtCursor(""),
//		badserver.Fail(-32602, "invalid cursor").AtCursor("p2"),
//	}
//
// The keys of Script.Answers are methods, notifications included, and the
// three words "GET", "DELETE" and "*": see [Script].
//
// # What is built in
//
// Before protocol "2026-07-28" the server answers initialize and ping; from it
// on, server/discover. Notifications are accepted. Every other request, those
// of the other era included, is an unknown method: JSON-RPC error -32601, over
// streamable HTTP with status 200, or 404 from "2026-07-28" on, as that version
// requires. A message that is no JSON-RPC gets -32700, over HTTP with status
// 400. Nothing else is checked: this is a server to test clients with, not one
// to find their faults; what they sent is in [Server.Requests].
package badserver
