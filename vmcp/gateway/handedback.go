package gateway

import (
	"maps"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// handedBack returns what of a backend's result goes on to the caller: not what
// the protocol says about the hop that it came over, such as who the server
// is. mcp-go's server says that of the gateway, to callers whose protocol has
// it.
func handedBack(result mcp.Result) mcp.Result {
	if result.Meta == nil {
		return mcp.Result{}
	}
	kept := maps.Clone(result.Meta.AdditionalFields)
	maps.DeleteFunc(kept, func(key string, _ any) bool { return strings.HasPrefix(key, "io.modelcontextprotocol/") })
	if len(kept) == 0 {
		return mcp.Result{}
	}
	return mcp.Result{Meta: &mcp.Meta{AdditionalFields: kept}}
}
