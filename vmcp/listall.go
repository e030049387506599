package vmcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"golang.org/x/sync/errgroup"
)

// listAll asks for the lists that a server advertises, side by side. The first
// failure that fails the backend ends the others.
func (m *member) listAll(ctx context.Context, client *mcpclient.Client, has mcp.ServerCapabilities) (inventory, error) {
	var found inventory
	var mu sync.Mutex // guards what failed
	group, ctx := errgroup.WithContext(ctx)
	for _, list := range capability.Lists(has) {
		group.Go(func() error {
			err := fetch[list.Name](ctx, client, &found.offer)
			if err == nil || !m.Tolerance.degrades(list.Name, err) {
				return asListError(list.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			read := failure.Of(m.hide(err))
			found.failed = append(found.failed, FailedList{Method: list.Name, Reason: read.Words(), Remedy: read.Remedy()})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return inventory{}, err
	}
	return found, nil
}

// fetch asks for each of the lists and puts it in its place, which no other one
// touches.
var fetch = map[mcp.MCPMethod]func(context.Context, *mcpclient.Client, *offer) error{
	mcp.MethodToolsList:              fetchTools,
	mcp.MethodResourcesList:          fetching((*mcpclient.Client).ListResources, func(to *offer, got *mcp.ListResourcesResult) { to.Resources = got.Resources }),
	mcp.MethodResourcesTemplatesList: fetching((*mcpclient.Client).ListResourceTemplates, func(to *offer, got *mcp.ListResourceTemplatesResult) { to.Templates = got.ResourceTemplates }),
	mcp.MethodPromptsList:            fetching((*mcpclient.Client).ListPrompts, func(to *offer, got *mcp.ListPromptsResult) { to.Prompts = got.Prompts }),
}

// fetchTools keeps the schemas as the server wrote them.
func fetchTools(ctx context.Context, client *mcpclient.Client, to *offer) error {
	return exactly(ctx, func(ctx context.Context) error {
		wrote := schemasOf(wire.ExchangeOf(ctx))
		got, err := client.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return err
		}
		restoreSchemas(got.Tools, wrote.of)
		to.Tools = got.Tools
		return nil
	})
}

// fetching asks for one list and keeps it.
func fetching[Req, Res any](list method[Req, Res], keep func(*offer, *Res)) func(context.Context, *mcpclient.Client, *offer) error {
	return func(ctx context.Context, client *mcpclient.Client, to *offer) error {
		return exactly(ctx, func(ctx context.Context) error {
			got, err := list(client, ctx, *new(Req))
			if err != nil {
				return err
			}
			keep(to, got)
			return nil
		})
	}
}

// listError is the failure of a list that fails its backend.
type listError struct {
	method mcp.MCPMethod
	err    error
}

func asListError(method mcp.MCPMethod, err error) error {
	if err == nil {
		return nil
	}
	return &listError{method, err}
}

func (e *listError) Error() string { return fmt.Sprintf("%s: %v", e.method, e.err) }

func (e *listError) Unwrap() error { return e.err }
