package vmcp

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// handedOn takes what is about the connection to the backend out of the _meta.
func handedOn(notification mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	var kept map[string]any
	for key, value := range notification.Params.Meta {
		if IsHop(key) {
			continue
		}
		if kept == nil {
			kept = map[string]any{}
		}
		kept[key] = value
	}
	notification.Params.Meta = kept
	return notification
}

// onward returns what of a request's _meta goes on to the backend, with the
// progress token for it, if any: not what the protocol says about the hop that
// it came over.
func onward(meta *mcp.Meta, token string) *mcp.Meta {
	kept := &mcp.Meta{AdditionalFields: map[string]any{}}
	if token != "" {
		kept.ProgressToken = token
	}
	if meta != nil {
		for key, value := range meta.AdditionalFields {
			if key != "progressToken" && !IsHop(key) {
				kept.AdditionalFields[key] = value
			}
		}
	}
	if kept.ProgressToken == nil && len(kept.AdditionalFields) == 0 {
		return nil
	}
	return kept
}

// IsHop says whether a key of _meta is the protocol's own, about one
// connection: such keys are not handed on.
func IsHop(key string) bool { return strings.HasPrefix(key, "io.modelcontextprotocol/") }
