package vmcp

import (
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// schemas are those of a tool, as its server wrote them; nil where there is none.
// mcp-go's type keeps only the keywords at the top that it knows.
type schemas struct {
	Input  json.RawMessage `json:"inputSchema"`
	Output json.RawMessage `json:"outputSchema"`
}

// wroteSchemas are those of the tools that the lists of a call had, by name. It is
// safe for concurrent use.
type wroteSchemas struct{ byTool sync.Map }

// schemasOf hears the schemas of the calls with the exchange.
func schemasOf(exchange *wire.Exchange) *wroteSchemas {
	w := &wroteSchemas{}
	exchange.Hook(wire.Hooks{Result: w.hear})
	return w
}

// hear leaves what cannot be decoded to mcp-go, which says so.
func (w *wroteSchemas) hear(method string, result json.RawMessage) json.RawMessage {
	var list struct {
		Tools []struct {
			Name string `json:"name"`
			schemas
		} `json:"tools"`
	}
	if method == string(mcp.MethodToolsList) && json.Unmarshal(result, &list) == nil {
		for _, tool := range list.Tools {
			w.byTool.Store(tool.Name, tool.schemas)
		}
	}
	return result
}

func (w *wroteSchemas) of(tool string) schemas {
	found, _ := w.byTool.Load(tool)
	wrote, _ := found.(schemas)
	return wrote
}
