package instrument

import (
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
)

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
