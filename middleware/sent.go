package middleware

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// sendsNothing says whether mcp-go answers a call itself: protocol 2026-07-28
// has neither ping nor logging/setLevel nor subscriptions by request.
func sendsNothing(call mcpclient.Call) bool {
	switch call.Method {
	case "":
		return true
	case mcp.MethodPing, mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return mcp.IsModernProtocol(protocolVersion(call))
	default:
		return false
	}
}

func protocolVersion(call mcpclient.Call) string {
	if server, ok := call.Server(); ok {
		return server.ProtocolVersion
	}
	return ""
}
