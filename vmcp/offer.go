package vmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"golang.org/x/sync/errgroup"
)

// offer is what a backend lists.
type offer struct {
	Tools     []mcp.Tool             `json:"tools"`
	Resources []mcp.Resource         `json:"resources"`
	Templates []mcp.ResourceTemplate `json:"templates"`
	Prompts   []mcp.Prompt           `json:"prompts"`
}

// listAll asks for the lists that a server advertises, side by side. The first
// failure ends the others.
func listAll(ctx context.Context, client *mcpclient.Client, has mcp.ServerCapabilities) (offer, error) {
	var o offer
	group, ctx := errgroup.WithContext(ctx)
	ask := func(advertised bool, method mcp.MCPMethod, list func(context.Context) error) {
		if !advertised {
			return
		}
		group.Go(func() error {
			if err := list(ctx); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			return nil
		})
	}
	ask(has.Tools != nil, mcp.MethodToolsList, func(ctx context.Context) error {
		result, err := client.ListTools(ctx, mcp.ListToolsRequest{})
		if err == nil {
			o.Tools = result.Tools
		}
		return err
	})
	ask(has.Resources != nil, mcp.MethodResourcesList, func(ctx context.Context) error {
		result, err := client.ListResources(ctx, mcp.ListResourcesRequest{})
		if err == nil {
			o.Resources = result.Resources
		}
		return err
	})
	ask(has.Resources != nil, mcp.MethodResourcesTemplatesList, func(ctx context.Context) error {
		result, err := client.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
		if err == nil {
			o.Templates = result.ResourceTemplates
		}
		return err
	})
	ask(has.Prompts != nil, mcp.MethodPromptsList, func(ctx context.Context) error {
		result, err := client.ListPrompts(ctx, mcp.ListPromptsRequest{})
		if err == nil {
			o.Prompts = result.Prompts
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return offer{}, err
	}
	return o, nil
}

// equal compares what a client would see.
func (o offer) equal(other offer) bool {
	one, errOne := json.Marshal(o)
	two, errTwo := json.Marshal(other)
	return errOne == nil && errTwo == nil && bytes.Equal(one, two)
}
