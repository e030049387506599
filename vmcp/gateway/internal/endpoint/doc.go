// Package endpoint is the side of a gateway that clients see: MCP over
// streamable HTTP and over stdio, for both eras of the protocol. It knows
// connections and messages; what a method means is its [Handler]'s business.
//
//	client -> POST, GET, DELETE or a line -> Endpoint -> Handler
//
// Up to protocol 2025-11-25 a client connects with initialize and has, over
// HTTP, a session of its own, named by the header Mcp-Session-Id. On 2026-07-28
// each request says by itself who asks and what it can be asked. Both are a
// [Client] to the handler; which one it is matters only where the eras differ:
// a client of 2026-07-28 cannot be asked anything while it waits
// ([ErrCannotAsk]), and is notified of nothing that it did not subscribe to.
//
// It does not use the server of mcp-go v1.2.1, which a gateway cannot stand
// behind without loss: that server answers every failure of a handler with
// -32603, drops the _meta of a read resource, refuses what is not in its lists,
// loses notifications when a queue of 100 is full, sends sampling and roots only
// to clients that hold a GET stream open, runs five tools at a time over stdio,
// with one session for the whole process, and pages lists by names that two
// backends may share.
//
// Facts about the transports are from
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports and
// the same page of 2026-07-28.
package endpoint
