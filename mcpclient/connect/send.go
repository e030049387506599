package connect

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// send does one request through a transport's own SendRequest, tells the exchange of
// the call, where there is one, about it, and takes no result of another request.
func send(ctx context.Context, t transport.Interface, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	exchange := wire.ExchangeOf(ctx)
	if exchange != nil {
		exchange.Sent(fmt.Sprint(request.ID.Value()), t.GetSessionId())
		params, err := exchange.Params(request.Method, request.Params)
		if err != nil {
			return nil, err
		}
		request.Params = withMeta(params, exchange.Meta())
	}
	response, err := t.SendRequest(ctx, request)
	switch {
	case err != nil || response == nil: // neither: mcp-go v1.2.1 over SSE, see [sseTransport.SendRequest]
		return nil, err
	case response.Error != nil:
		exchange.Refused(refusalOf(response.Error))
	case response.ID.Value() != request.ID.Value():
		return nil, mismatch(request.ID, response.ID)
	default:
		response.Result = exchange.Answered(request.Method, response.Result)
	}
	return response, nil
}

// mismatch is about what [wire.Transport] cannot see: a stream that was resumed.
func mismatch(sent, got mcp.RequestId) error {
	return &wire.MismatchError{Sent: jsonOf(sent), Got: jsonOf(got)}
}

func jsonOf(id mcp.RequestId) string {
	text, err := json.Marshal(id)
	if err != nil { // it is a number or a text
		return fmt.Sprint(id.Value())
	}
	return string(text)
}

func refusalOf(said *mcp.JSONRPCErrorDetails) wire.Refusal {
	refusal := wire.Refusal{Code: said.Code, Message: said.Message}
	if said.Data == nil {
		return refusal
	}
	if data, err := json.Marshal(said.Data); err == nil { // it was JSON
		refusal.Data = data
	}
	return refusal
}

// withMeta returns the parameters with more fields in their _meta. What is no
// JSON object cannot have any.
func withMeta(params any, more map[string]string) any {
	if len(more) == 0 {
		return params
	}
	fields, err := fieldsOf(params)
	if err != nil {
		return params
	}
	meta := map[string]any{}
	if raw, ok := fields["_meta"]; ok && json.Unmarshal(raw, &meta) != nil {
		return params
	}
	for key, value := range more {
		meta[key] = value
	}
	encoded, err := json.Marshal(meta)
	if err != nil {
		return params
	}
	fields["_meta"] = encoded
	return fields
}

// fieldsOf are those of the parameters, each as it will be sent; no parameters
// have none.
func fieldsOf(params any) (map[string]json.RawMessage, error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode the parameters: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("the parameters are no object: %w", err)
	}
	if fields == nil { // null
		fields = map[string]json.RawMessage{}
	}
	return fields, nil
}
