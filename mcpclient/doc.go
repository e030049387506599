// Package mcpclient puts a chain of middlewares around any
// [client.MCPClient] of github.com/mark3labs/mcp-go.
//
// One call is one value, a [Call], and every call passes one chain, composed
// once when the client is wrapped. The first middleware listed is the
// outermost:
//
//	c := mcpclient.Wrap(inner, A, B, C)
//
//	caller -> A -> B -> C -> inner -> server
//	caller <- A <- B <- C <- inner <- server
//
//	Wrap(inner, A, B, C) behaves as Wrap(inner, Chain(A, Chain(B, C)))
//
// Package connect makes a whole client. Over an HTTP transport of mcp-go that is
// made by hand package wire belongs beneath inner:
//
//	over := &http.Client{Transport: &wire.Transport{}}
//	inner, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(over))
//
// The package holds no policy: it forgives nothing, logs nothing and retries
// nothing. Package middleware has the middlewares.
//
// # What the chain sees
//
// Every method of [client.MCPClient] but OnNotification, and each page that an
// iterator of [Client] fetches. It sees calls, not messages: one CallTool of
// mcp-go may be several requests on the wire (a server that asks for input),
// and on protocol 2026-07-28 Ping, SetLevel, Subscribe and Unsubscribe send
// nothing at all. Methods that a concrete client has beyond the interface are
// reached with [As] and bypass the chain.
package mcpclient
