package instrument

import (
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

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
