package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// A MultiRoundTrip is one round trip of a multi round-trip request that the caller
// conducts itself: it has what a server of protocol 2026-07-28 needs before it
// answers. It is safe for concurrent use.
type MultiRoundTrip struct {
	again    mcp.MultiRoundTripParams
	required atomic.Pointer[mcp.MultiRoundTripResult]
}

// NewMultiRoundTrip makes a CallTool, GetPrompt or ReadResource with the exchange one
// round trip of several that the caller conducts itself, where mcp-go's client v1.2.1
// would ask the handlers of its own: the call sends what the caller answers to an
// earlier result, and if the server needs input the call's result is empty, and
// [MultiRoundTrip.Required] has what it needs
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
// It must be called before the call, over a transport of this package, and sets the
// exchange's hooks.
func NewMultiRoundTrip(exchange *wire.Exchange, again mcp.MultiRoundTripParams) *MultiRoundTrip {
	r := &MultiRoundTrip{again: again}
	exchange.Hook(wire.Hooks{Params: r.params, Result: r.result})
	return r
}

// Required returns what the server needs before it answers, and whether it needs
// something. None, nil, needs nothing.
func (r *MultiRoundTrip) Required() (mcp.MultiRoundTripResult, bool) {
	if r == nil {
		return mcp.MultiRoundTripResult{}, false
	}
	required := r.required.Load()
	if required == nil {
		return mcp.MultiRoundTripResult{}, false
	}
	return *required, true
}

// emptyResults stand for the answer of a server that needs input.
var emptyResults = map[string]json.RawMessage{
	string(mcp.MethodToolsCall):     json.RawMessage(`{"content":[]}`),
	string(mcp.MethodPromptsGet):    json.RawMessage(`{"messages":[]}`),
	string(mcp.MethodResourcesRead): json.RawMessage(`{"contents":[]}`),
}

func (r *MultiRoundTrip) params(method string, params any) (any, error) {
	if _, known := emptyResults[method]; !known {
		return params, nil
	}
	return withAnswers(params, r.again)
}

func (r *MultiRoundTrip) result(method string, result json.RawMessage) json.RawMessage {
	if empty, known := emptyResults[method]; known && r.take(result) {
		return empty
	}
	return result
}

// withAnswers returns the parameters with the caller's answers.
func withAnswers(params any, again mcp.MultiRoundTripParams) (any, error) {
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

// take keeps what the server needs, if that is what its result says.
func (r *MultiRoundTrip) take(result json.RawMessage) bool {
	var said struct {
		ResultType mcp.ResultType `json:"resultType"`
		mcp.MultiRoundTripResult
	}
	if !bytes.Contains(result, []byte(mcp.ResultTypeInputRequired)) || json.Unmarshal(result, &said) != nil ||
		said.ResultType != mcp.ResultTypeInputRequired {
		return false
	}
	r.required.Store(&said.MultiRoundTripResult)
	return true
}
