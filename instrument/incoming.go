package instrument

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/attribute"
)

// Incoming is one request, or notification, that a server got. Only Method must
// be there.
type Incoming struct {
	Method mcp.MCPMethod
	// Request points to mcp-go's request struct, such as *mcp.CallToolRequest:
	// it says which tool, prompt or resource it is about, and has _meta. It is
	// not changed.
	Request any
	// Meta is the _meta of a request whose struct has none; else nil.
	Meta *mcp.Meta
	// RequestID is the JSON-RPC id; nil for a notification.
	RequestID any
	// SessionID and ProtocolVersion are those of the caller's session.
	SessionID, ProtocolVersion string
	// Caller is how the request came: the transport and the protocol below
	// MCP, and from where.
	Caller wire.Peer
}

func (in Incoming) call() mcpclient.Call {
	return mcpclient.Call{Method: in.Method, Request: in.Request}
}

func (in Incoming) series() Series {
	request := RequestOf(in.call())
	request.Method = methodName(in.Method)
	return Series{request, connectionOf(in.ProtocolVersion, in.Caller)}
}

// connectionOf leaves out the caller's address and port: they have too many
// values for metrics.
func connectionOf(protocolVersion string, caller wire.Peer) Connection {
	below := wire.Peer{Transport: caller.Transport, Protocol: caller.Protocol, ProtocolVersion: caller.ProtocolVersion}
	return Connection{protocolVersion, below}
}

// spanAttributes have too many values for metrics.
func (in Incoming) spanAttributes() []attribute.KeyValue {
	var all []attribute.KeyValue
	if in.RequestID != nil {
		all = text(all, attrRequestID, fmt.Sprint(in.RequestID))
	}
	all = text(all, attrSessionID, in.SessionID)
	all = text(all, attrClientAddress, in.Caller.Address)
	if in.Caller.Port != 0 {
		all = append(all, attribute.Int(attrClientPort, in.Caller.Port))
	}
	return all
}

func (in Incoming) meta() *mcp.Meta {
	if in.Meta != nil {
		return in.Meta
	}
	return metaOf(in.Request)
}
