package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// untold is what mcp-go's client v1.2.1 may keep to itself, by its transport: over
// HTTP what broke off an event stream, and that a list of tools is missing, of which
// it makes an empty one. A list is missed alike over all transports that tell.
type untold struct{ lists, failures bool }

func untoldBy(inner client.MCPClient) untold {
	c, ok := As[*client.Client](inner)
	if !ok {
		return untold{}
	}
	_, overHTTP := c.GetTransport().(transport.HTTPConnection)
	return untold{lists: true, failures: overHTTP}
}

// invoke calls the inner client, and makes an error of what only the exchange of
// the call was told.
func (u untold) invoke(ctx context.Context, row *operation, inner client.MCPClient, request any) (any, error) {
	isList := u.lists && row.method == mcp.MethodToolsList
	if !isList && !u.failures {
		return row.invoke(ctx, inner, request)
	}
	ctx, exchange := wire.WithExchange(ctx)
	var missing atomic.Bool // a list of several pages may lack one
	if isList {
		exchange.Hook(wire.Hooks{Result: func(_ string, result json.RawMessage) json.RawMessage {
			if lacksTools(result) {
				missing.Store(true)
			}
			return result
		}})
	}
	result, err := row.invoke(ctx, inner, request)
	switch failure := exchange.Failure(); {
	case err != nil && failure != nil && !errors.Is(err, failure):
		return nil, transport.NewError(failure)
	case err == nil && missing.Load():
		return nil, ErrMalformedList
	}
	return result, err
}

// lacksTools leaves what cannot be decoded to mcp-go, which says so.
func lacksTools(result json.RawMessage) bool {
	var list struct {
		Tools json.RawMessage `json:"tools"`
	}
	return json.Unmarshal(result, &list) == nil && (len(list.Tools) == 0 || string(list.Tools) == "null")
}
