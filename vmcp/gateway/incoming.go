package gateway

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// incoming is what is measured and traced of a request.
func incoming(request *endpoint.Request) instrument.Incoming {
	return instrument.Incoming{
		Method: request.Method, Request: subject(request), Meta: request.Meta, RequestID: request.ID(),
		SessionID: request.Client.SessionID(), ProtocolVersion: request.Client.Version(), Caller: transportOf(request),
	}
}

// subject names the tool, prompt or resource that a request is about.
func subject(request *endpoint.Request) any {
	name, ok := mcp.ExtractHeaderName(request.Method, request.Params())
	if !ok {
		return nil
	}
	switch request.Method {
	case mcp.MethodToolsCall:
		return &mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name}}
	case mcp.MethodPromptsGet:
		return &mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name}}
	case mcp.MethodResourcesRead:
		return &mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: name}}
	default:
		return nil
	}
}

// transportOf says how a request came.
func transportOf(request *endpoint.Request) wire.Peer {
	if request.Header == nil {
		return wire.Peer{Transport: "pipe"}
	}
	return wire.Peer{Transport: "tcp", Protocol: "http"}
}
