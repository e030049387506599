package vmcp

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
)

// restoreSchemas gives the tools whose schema mcp-go's type cannot hold the one
// that the server wrote.
func restoreSchemas(tools []mcp.Tool, wrote func(tool string) connect.Schemas) {
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
