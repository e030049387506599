package vmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"golang.org/x/sync/errgroup"
)

// offer is what a backend lists.
type offer struct {
	Tools     []mcp.Tool
	Resources []mcp.Resource
	Templates []mcp.ResourceTemplate
	Prompts   []mcp.Prompt
}

// listAll asks for the lists that a server advertises, side by side. The first
// failure ends the others.
func listAll(ctx context.Context, client *mcpclient.Client, has mcp.ServerCapabilities) (offer, error) {
	var o offer
	ctx, exchange := wire.WithExchange(ctx)
	wrote := schemasOf(exchange)
	group, ctx := errgroup.WithContext(ctx)
	if has.Tools != nil {
		fetch(ctx, group, mcp.MethodToolsList, client.ListTools, func(r *mcp.ListToolsResult) { o.Tools = r.Tools })
	}
	if has.Resources != nil {
		fetch(ctx, group, mcp.MethodResourcesList, client.ListResources, func(r *mcp.ListResourcesResult) { o.Resources = r.Resources })
		fetch(ctx, group, mcp.MethodResourcesTemplatesList, client.ListResourceTemplates, func(r *mcp.ListResourceTemplatesResult) { o.Templates = r.ResourceTemplates })
	}
	if has.Prompts != nil {
		fetch(ctx, group, mcp.MethodPromptsList, client.ListPrompts, func(r *mcp.ListPromptsResult) { o.Prompts = r.Prompts })
	}
	if err := group.Wait(); err != nil {
		return offer{}, err
	}
	restoreSchemas(o.Tools, wrote)
	return o, nil
}

// fetch asks for one list, and names the method in the error.
func fetch[Req, Res any](ctx context.Context, group *errgroup.Group, method mcp.MCPMethod, list func(context.Context, Req) (*Res, error), keep func(*Res)) {
	group.Go(func() error {
		var first Req
		result, err := list(ctx, first)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		keep(result)
		return nil
	})
}

// restoreSchemas gives the tools whose schema mcp-go's type cannot hold the one
// that the server wrote.
func restoreSchemas(tools []mcp.Tool, all *wroteSchemas) {
	for i := range tools {
		tool, wrote := &tools[i], all.of(tools[i].Name)
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

// equal compares what a client would see.
func (o offer) equal(other offer) bool {
	return sameJSON(o.Tools, other.Tools) && sameJSON(o.Prompts, other.Prompts) &&
		sameJSON(o.Resources, other.Resources) && sameJSON(o.Templates, other.Templates)
}
