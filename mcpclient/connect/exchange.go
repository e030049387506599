package connect

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// exchanging does one request through a transport's own SendRequest and tells
// the [Answer] and the [wire.Exchange] of the call, where there are some, about
// it.
func exchanging(ctx context.Context, t transport.Interface, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return answering(ctx, request, func(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		return exchanged(ctx, t, request)
	})
}

func exchanged(ctx context.Context, t transport.Interface, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	exchange := wire.ExchangeOf(ctx)
	if exchange == nil {
		return t.SendRequest(ctx, request)
	}
	exchange.Sent(fmt.Sprint(request.ID.Value()), t.GetSessionId())
	request.Params = withMeta(request.Params, exchange.Meta())
	response, err := t.SendRequest(ctx, request)
	if err == nil && response != nil && response.Error != nil {
		exchange.Refused(response.Error.Code)
	}
	return response, err
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
