package middleware

import (
	"context"
	"maps"
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/propagation"
)

// injected returns the call with the trace's context in a copy of its request.
// A request of mcp-go that has no _meta leaves it to the exchange.
func injected(ctx context.Context, propagator propagation.TextMapPropagator, exchange *wire.Exchange, call mcpclient.Call) mcpclient.Call {
	fields := propagation.MapCarrier{}
	propagator.Inject(ctx, fields)
	if len(fields) == 0 {
		return call
	}
	copied := withMeta(call.Request, fields)
	if copied == nil {
		exchange.Carry(fields)
		return call
	}
	call.Request = copied
	return call
}

// metaOf returns the _meta of a request, nil where it has none.
func metaOf(request any) *mcp.Meta {
	if _, meta := copyOf(request); meta != nil {
		return *meta
	}
	return nil
}

// withMeta returns a copy of a request with more in its _meta, or nil where it
// has no room for one. The _meta of the request itself stays as it is.
func withMeta(request any, fields map[string]string) any {
	copied, meta := copyOf(request)
	if meta == nil {
		return nil
	}
	all := mcp.Meta{AdditionalFields: make(map[string]any, len(fields))}
	if *meta != nil {
		all.ProgressToken = (*meta).ProgressToken
		maps.Copy(all.AdditionalFields, (*meta).AdditionalFields)
	}
	for key, value := range fields {
		all.AdditionalFields[key] = value
	}
	*meta = &all
	return copied
}

// copyOf returns a copy of a request and where in it the _meta is; of mcp-go
// v1.2.1's requests these have one that is sent.
func copyOf(request any) (copied any, meta **mcp.Meta) {
	switch r := request.(type) {
	case *mcp.CallToolRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.GetPromptRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.ReadResourceRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.ListToolsRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.ListPromptsRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.ListResourcesRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	case *mcp.ListResourceTemplatesRequest:
		c := valueOf(r)
		return &c, &c.Params.Meta
	default:
		return nil, nil
	}
}

// valueOf takes nil for a request without anything in it.
func valueOf[Req any](request *Req) Req {
	if request == nil {
		var none Req
		return none
	}
	return *request
}

// extracted returns a context whose remote parent is what came in _meta.
func extracted(ctx context.Context, propagator propagation.TextMapPropagator, meta *mcp.Meta) context.Context {
	if meta == nil {
		return ctx
	}
	fields := propagation.MapCarrier{}
	for key, value := range meta.AdditionalFields {
		if text, ok := value.(string); ok {
			fields[key] = text
		}
	}
	return propagator.Extract(ctx, fields)
}

// resourceURI is the resource that a call is about; empty for none.
func resourceURI(call mcpclient.Call) string {
	switch request := call.Request.(type) {
	case *mcp.ReadResourceRequest:
		if request != nil {
			return request.Params.URI
		}
	case *mcp.SubscribeRequest:
		if request != nil {
			return request.Params.URI
		}
	case *mcp.UnsubscribeRequest:
		if request != nil {
			return request.Params.URI
		}
	}
	return ""
}

// withoutUser takes the credentials out of a URI: postgres://user:password@host.
// Of one that cannot be parsed nothing is left.
func withoutUser(uri string) string {
	parsed, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if parsed.User == nil {
		return uri
	}
	parsed.User = nil
	return parsed.String()
}
