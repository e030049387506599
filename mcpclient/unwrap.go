package mcpclient

import (
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// As returns the first client that is a T, starting with c and following
// Unwrap() client.MCPClient inwards. T is a concrete type, such as
// *client.Client of mcp-go, or an interface. Calls made on what it returns
// bypass the chain.
func As[T any](c client.MCPClient) (T, bool) {
	for c != nil {
		if found, ok := c.(T); ok {
			return found, true
		}
		wrapper, ok := c.(interface{ Unwrap() client.MCPClient })
		if !ok {
			break
		}
		c = wrapper.Unwrap()
	}
	var none T
	return none, false
}

// handshakeOf returns what is known of the handshake of a client that may have
// been initialised already, or nil.
func handshakeOf(c client.MCPClient) *mcp.InitializeResult {
	if wrapped, ok := As[*Client](c); ok {
		if server, known := wrapped.Server(); known {
			return server
		}
		return handshakeOf(wrapped.inner)
	}
	known, ok := As[interface {
		IsInitialized() bool
		ProtocolVersion() string
		GetServerCapabilities() mcp.ServerCapabilities
	}](c)
	// A client made with client.WithSession counts as initialised without ever
	// having seen a handshake: it has no protocol version.
	if !ok || !known.IsInitialized() || known.ProtocolVersion() == "" {
		return nil
	}
	return &mcp.InitializeResult{
		ProtocolVersion: known.ProtocolVersion(),
		Capabilities:    known.GetServerCapabilities(),
	}
}
