// Package gateway puts a session of many backends behind one MCP endpoint:
// over streamable HTTP, for both eras of the protocol, and over stdio.
//
//	g := gateway.New(session, mcp.Implementation{Name: "vmcp", Version: "1"})
//	http.ListenAndServe("127.0.0.1:4483", g)
//
// The endpoint declares only what at least one backend really serves, counted
// after the rule of tolerance: a forgiven backend does not make the gateway
// repeat its empty promise. Each call costs its backend exactly one request;
// the caller's HTTP headers never travel to a backend.
//
// Requests that a page of another origin makes a browser send are refused, and
// bodies are bounded. On loopback, mcp-go's server refuses requests whose Host header is not
// loopback too, so that no web page can reach it by rebinding a name.
package gateway
