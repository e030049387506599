package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// An Answer is what a server answers to one call, where mcp-go's client v1.2.1
// keeps it to itself: of an error it hands on a text, and the code only if it
// knows it; and when a server of protocol 2026-07-28 needs input it asks the
// handlers of its own, and not who called; of a tool's schema it keeps what its
// type has. The transports of this package tell
// the answer of the call's context. It is safe for concurrent use.
type Answer struct {
	rounds   *mcp.MultiRoundTripParams // nil: the client's handlers are asked
	required atomic.Pointer[mcp.MultiRoundTripResult]
	refusal  atomic.Pointer[mcp.JSONRPCErrorDetails]
	schemas  sync.Map // of a tool's name to its Schemas
}

// Schemas are those of a tool, as its server wrote them. mcp-go's client keeps
// only the keywords at the top that its type has.
type Schemas struct {
	Input, Output json.RawMessage // nil where there is none
}

// Schemas returns those of a tool that a list of the call had.
func (a *Answer) Schemas(tool string) Schemas {
	found, _ := a.schemas.Load(tool)
	schemas, _ := found.(Schemas)
	return schemas
}

type answerKey struct{}

// WithAnswer returns a context for one call, and where its answer will be. A
// call that is sent again has the last one.
func WithAnswer(ctx context.Context) (context.Context, *Answer) {
	a := &Answer{}
	return context.WithValue(ctx, answerKey{}, a), a
}

// TakeRounds makes a CallTool, GetPrompt or ReadResource one round of an
// exchange that the caller conducts by himself: the call sends what he answers
// to an earlier result, and if the server needs input the call's result is
// empty, and Required has what it needs
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
// It must be called before the call.
func (a *Answer) TakeRounds(again mcp.MultiRoundTripParams) { a.rounds = &again }

// Required returns what the server needs before it answers, and whether it needs
// something.
func (a *Answer) Required() (mcp.MultiRoundTripResult, bool) {
	required := a.required.Load()
	if required == nil {
		return mcp.MultiRoundTripResult{}, false
	}
	return *required, true
}

// Refusal returns the JSON-RPC error that the server answered with, and whether
// it did.
func (a *Answer) Refusal() (mcp.JSONRPCErrorDetails, bool) {
	refusal := a.refusal.Load()
	if refusal == nil {
		return mcp.JSONRPCErrorDetails{}, false
	}
	return *refusal, true
}

// emptyResults stand for the answer of a server that needs input.
var emptyResults = map[string]json.RawMessage{
	string(mcp.MethodToolsCall):     json.RawMessage(`{"content":[]}`),
	string(mcp.MethodPromptsGet):    json.RawMessage(`{"messages":[]}`),
	string(mcp.MethodResourcesRead): json.RawMessage(`{"contents":[]}`),
}

type sendFunc func(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error)

// answering sends a request and tells the [Answer] of the call, where there is
// one, about it.
func answering(ctx context.Context, request transport.JSONRPCRequest, send sendFunc) (*transport.JSONRPCResponse, error) {
	a, ok := ctx.Value(answerKey{}).(*Answer)
	if !ok {
		return send(ctx, request)
	}
	empty, inRounds := emptyResults[request.Method]
	if inRounds = inRounds && a.rounds != nil; inRounds {
		params, err := withRounds(request.Params, *a.rounds)
		if err != nil {
			return nil, err
		}
		request.Params = params
	}
	response, err := send(ctx, request)
	if err != nil || response == nil { // neither: mcp-go v1.2.1 over SSE, see [sseTransport.SendRequest]
		return nil, err
	}
	a.refusal.Store(response.Error)
	if request.Method == string(mcp.MethodToolsList) && response.Error == nil {
		a.keepSchemas(response.Result)
	}
	if inRounds && response.Error == nil && a.take(response.Result) {
		response.Result = empty
	}
	return response, nil
}

// withRounds returns the parameters with the caller's answers.
func withRounds(params any, again mcp.MultiRoundTripParams) (any, error) {
	if again.InputResponses == nil && again.RequestState == "" {
		return params, nil
	}
	fields, err := fieldsOf(params)
	if err != nil {
		return nil, err
	}
	if again.InputResponses != nil {
		if fields["inputResponses"], err = json.Marshal(again.InputResponses); err != nil {
			return nil, fmt.Errorf("encode the answers: %w", err)
		}
	}
	if again.RequestState != "" {
		if fields["requestState"], err = json.Marshal(again.RequestState); err != nil {
			return nil, fmt.Errorf("encode the state: %w", err)
		}
	}
	return fields, nil
}

// keepSchemas leaves what cannot be decoded to mcp-go, which says so.
func (a *Answer) keepSchemas(result json.RawMessage) {
	var list struct {
		Tools []struct {
			Name         string          `json:"name"`
			InputSchema  json.RawMessage `json:"inputSchema"`
			OutputSchema json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return
	}
	for _, tool := range list.Tools {
		a.schemas.Store(tool.Name, Schemas{Input: tool.InputSchema, Output: tool.OutputSchema})
	}
}

// take keeps what the server needs, if that is what its result says.
func (a *Answer) take(result json.RawMessage) bool {
	var said struct {
		ResultType mcp.ResultType `json:"resultType"`
		mcp.MultiRoundTripResult
	}
	if !bytes.Contains(result, []byte(mcp.ResultTypeInputRequired)) || json.Unmarshal(result, &said) != nil ||
		said.ResultType != mcp.ResultTypeInputRequired {
		return false
	}
	a.required.Store(&said.MultiRoundTripResult)
	return true
}
