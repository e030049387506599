package vmcp

import (
	"encoding/json"
	"regexp"
	"slices"
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

// restoreSchemas gives the tools whose schema mcp-go's type cannot hold the one
// that the server wrote.
func restoreSchemas(tools []mcp.Tool, wrote func(tool string) schemas) {
	for i := range tools {
		tool, wrote := &tools[i], wrote(tools[i].Name)
		if wrote.Input != nil && !holds(wrote.Input) {
			tool.InputSchema, tool.RawInputSchema = mcp.ToolInputSchema{}, wrote.Input
		}
		if wrote.Output != nil && !holds(wrote.Output) {
			tool.OutputSchema, tool.RawOutputSchema = mcp.ToolOutputSchema{}, wrote.Output
		}
	}
}

// holds says whether mcp-go's type for schemas surely keeps everything of one: it
// has no keyword at its top that the type does not have, has those that the type
// always writes, and no number whose digits a float64 might not keep.
func holds(wrote json.RawMessage) bool {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(wrote, &keywords) != nil || preciseNumber.Match(wrote) {
		return false
	}
	for keyword := range keywords {
		if !slices.Contains(heldKeywords, keyword) {
			return false
		}
	}
	return keywords["type"] != nil && keywords["properties"] != nil && keywords["required"] != nil
}

var (
	heldKeywords  = []string{"type", "properties", "required", "$defs", "additionalProperties"}
	preciseNumber = regexp.MustCompile(`[0-9]{16}|[0-9][.eE]`)
)
