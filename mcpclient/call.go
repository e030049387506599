package mcpclient

import (
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// A Call is one method call of a [Client] on its way to the server. It goes by
// value. Its request belongs to the caller: a middleware that wants another
// one copies it and passes on a Call with the copy.
type Call struct {
	// Op is the name of the Go method, such as "ListToolsByPage". It decides
	// which method of the inner client the call ends in.
	Op string

	// Method is the method on the wire, such as "tools/list". It is empty for
	// Close, which has none.
	Method mcp.MCPMethod

	// Request points to the mcp-go request struct, such as
	// *mcp.ListToolsRequest. It is nil for Ping and Close.
	Request any

	client *Client
	row    *operation // where the call began; spares the end of the chain a look-up
}

// Server returns what the server said in its handshake and whether that is
// known. The result is shared by all calls: it must not be changed.
//
// It is known once Initialize has succeeded through this client, or if the
// inner client has been initialised by itself and can say what the server
// advertised; mcp-go's own client can, without the server's name.
func (c Call) Server() (*mcp.InitializeResult, bool) {
	if c.client == nil {
		return nil, false
	}
	return c.client.Server()
}

// Inner returns the client that the call's chain ends in, as [Client.Unwrap]
// does, or nil for a call that no client made. What is called on it directly
// bypasses the chain.
func (c Call) Inner() client.MCPClient {
	if c.client == nil {
		return nil
	}
	return c.client.inner
}

// List returns the paginated list that the call asks for, a page of it or the
// whole, and whether it asks for one.
func (c Call) List() (List, bool) {
	list, ok := lists[c.Method]
	if !ok || !list.asks(c.Request) {
		return nil, false
	}
	return list, true
}
