package instrument

import (
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/attribute"
)

// A Series is what tells one line of a histogram from another; what is empty is
// left out.
type Series struct {
	Request
	Connection
}

// A Request is what each request has for itself. A method that the protocol
// does not know is measured as "_OTHER".
type Request struct {
	Method, Tool, Prompt string
	ErrorType, Code      string // empty for a success
}

// A Connection is what all its requests share.
type Connection struct {
	ProtocolVersion string
	Peer            wire.Peer
}

// RequestOf is a request that has not ended.
func RequestOf(call mcpclient.Call) Request {
	tool, prompt := Subject(call)
	return Request{Method: string(call.Method), Tool: tool, Prompt: prompt}
}

// EndedRequest is a request and how it ended.
func EndedRequest(outcome Outcome) Request {
	r := RequestOf(outcome.Call)
	r.Method = string(outcome.Method())
	return r.ended(outcome)
}

// ended adds what went wrong, if something did.
func (r Request) ended(outcome Outcome) Request {
	if outcome.Kind == OutcomeOK {
		return r
	}
	r.ErrorType = outcome.ErrorType()
	if code, ok := outcome.Code(); ok {
		r.Code = strconv.Itoa(code)
	}
	return r
}

// name is "{method} {tool or prompt}".
func (r Request) name() string {
	return strings.TrimRight(r.Method+" "+r.Tool+r.Prompt, " ")
}

// Subject returns the name of the tool or the prompt that a call is about.
func Subject(call mcpclient.Call) (tool, prompt string) {
	switch request := call.Request.(type) {
	case *mcp.CallToolRequest:
		if request != nil {
			return request.Params.Name, ""
		}
	case *mcp.GetPromptRequest:
		if request != nil {
			return "", request.Params.Name
		}
	}
	return "", ""
}

// attributes returns those of a series and more, which win.
func (s Series) attributes(more []attribute.KeyValue) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(more)+12)
	if s.Method != "" {
		all = text(all, attrMethod, methodName(mcp.MCPMethod(s.Method)))
	}
	all = text(all, attrTool, s.Tool)
	if s.Method == string(mcp.MethodToolsCall) {
		all = text(all, attrGenAIOperation, executeTool)
	}
	all = text(all, attrPrompt, s.Prompt)
	all = text(all, attrProtocolVersion, s.ProtocolVersion)
	all = text(all, attrErrorType, s.ErrorType)
	all = text(all, attrStatusCode, s.Code)
	return append(append(all, peerAttributes(s.Peer)...), more...) // of two with one key the last counts
}

func peerAttributes(peer wire.Peer) []attribute.KeyValue {
	var all []attribute.KeyValue
	all = text(all, attrTransport, peer.Transport)
	all = text(all, attrNetProtocol, peer.Protocol)
	all = text(all, attrNetVersion, peer.ProtocolVersion)
	all = text(all, attrServerAddress, peer.Address)
	if peer.Port != 0 {
		all = append(all, attribute.Int(attrServerPort, peer.Port))
	}
	return all
}
