package mcpclient

import (
	"context"
	"fmt"
	"iter"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// A List is one of the protocol's four paginated lists, without its types:
// what a middleware needs to ask for a page of it and to look at one. Its
// methods take the requests and results of its own method and panic on
// others: [Call.List] has checked the request, and Check checks a result.
type List interface {
	// PageOp is the Op that fetches one page, such as "ListToolsByPage".
	PageOp() string
	// Check returns a [*ContractError] unless the result belongs to this list
	// and is not nil. A handler inside the chain may return anything.
	Check(result any) error
	// Cursor returns the request's cursor; the first page has none.
	Cursor(request any) mcp.Cursor
	// At returns a copy of the request with another cursor.
	At(request any, cursor mcp.Cursor) any
	// Next returns the cursor of the page that follows, empty on the last.
	Next(result any) mcp.Cursor
	// Len returns the number of entries, and false if the server sent no list
	// at all: the member is missing or null.
	Len(result any) (int, bool)
	// OrEmpty returns the result, or where it has no list at all a copy with
	// an empty one. A nil result gives a new empty one.
	OrEmpty(result any) any
	// Join returns a copy of the first page with the entries of all pages and
	// the cursor of the last. There must be at least one page.
	Join(pages []any) any
}

// list is a List with its types.
type list[Req, Res, Item any] struct {
	query[Req, Res]
	params func(*Req) *mcp.PaginatedParams
	paging func(*Res) *mcp.PaginatedResult
	items  func(*Res) *[]Item
}

var (
	tools = list[mcp.ListToolsRequest, mcp.ListToolsResult, mcp.Tool]{
		listToolsByPage,
		func(r *mcp.ListToolsRequest) *mcp.PaginatedParams { return &r.Params },
		func(r *mcp.ListToolsResult) *mcp.PaginatedResult { return &r.PaginatedResult },
		func(r *mcp.ListToolsResult) *[]mcp.Tool { return &r.Tools },
	}
	resources = list[mcp.ListResourcesRequest, mcp.ListResourcesResult, mcp.Resource]{
		listResourcesByPage,
		func(r *mcp.ListResourcesRequest) *mcp.PaginatedParams { return &r.Params },
		func(r *mcp.ListResourcesResult) *mcp.PaginatedResult { return &r.PaginatedResult },
		func(r *mcp.ListResourcesResult) *[]mcp.Resource { return &r.Resources },
	}
	resourceTemplates = list[mcp.ListResourceTemplatesRequest, mcp.ListResourceTemplatesResult, mcp.ResourceTemplate]{
		listResourceTemplatesByPage,
		func(r *mcp.ListResourceTemplatesRequest) *mcp.PaginatedParams { return &r.Params },
		func(r *mcp.ListResourceTemplatesResult) *mcp.PaginatedResult { return &r.PaginatedResult },
		func(r *mcp.ListResourceTemplatesResult) *[]mcp.ResourceTemplate { return &r.ResourceTemplates },
	}
	prompts = list[mcp.ListPromptsRequest, mcp.ListPromptsResult, mcp.Prompt]{
		listPromptsByPage,
		func(r *mcp.ListPromptsRequest) *mcp.PaginatedParams { return &r.Params },
		func(r *mcp.ListPromptsResult) *mcp.PaginatedResult { return &r.PaginatedResult },
		func(r *mcp.ListPromptsResult) *[]mcp.Prompt { return &r.Prompts },
	}
	lists = map[mcp.MCPMethod]interface {
		List
		asks(request any) bool
	}{
		tools.method: tools, resources.method: resources, resourceTemplates.method: resourceTemplates, prompts.method: prompts,
	}
)

func (l list[Req, Res, Item]) PageOp() string { return l.name }

func (l list[Req, Res, Item]) Check(result any) error {
	_, err := checked[Res](l.name, "result", result)
	return err
}

func (l list[Req, Res, Item]) asks(request any) bool {
	typed, ok := request.(*Req)
	return ok && typed != nil
}

func (l list[Req, Res, Item]) Cursor(request any) mcp.Cursor {
	return l.params(request.(*Req)).Cursor
}

func (l list[Req, Res, Item]) At(request any, cursor mcp.Cursor) any {
	next := *request.(*Req)
	l.params(&next).Cursor = cursor
	return &next
}

func (l list[Req, Res, Item]) Next(result any) mcp.Cursor {
	return l.paging(result.(*Res)).NextCursor
}

func (l list[Req, Res, Item]) Len(result any) (int, bool) {
	items := *l.items(result.(*Res))
	return len(items), items != nil
}

func (l list[Req, Res, Item]) OrEmpty(result any) any {
	var full Res
	if result != nil {
		full = *result.(*Res)
	}
	if items := l.items(&full); *items == nil {
		*items = []Item{}
	}
	return &full
}

func (l list[Req, Res, Item]) Join(pages []any) any {
	joined := *pages[0].(*Res)
	items := make([]Item, 0, len(pages))
	for _, page := range pages {
		items = append(items, *l.items(page.(*Res))...)
	}
	*l.items(&joined) = items
	l.paging(&joined).NextCursor = l.Next(pages[len(pages)-1])
	return &joined
}

// each asks for page after page, through the chain, and yields the entries.
func (l list[Req, Res, Item]) each(ctx context.Context, c *Client, first Req) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var none Item
		request := new(first) // each page has a request of its own: a middleware may keep it
		seen := map[mcp.Cursor]bool{}
		for {
			page, err := l.send(ctx, c, request)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range *l.items(page) {
				if !yield(item, nil) {
					return
				}
			}
			seen[l.Cursor(request)] = true
			next := l.Next(page)
			if next == "" {
				return
			}
			if seen[next] {
				yield(none, fmt.Errorf("%s: %w: %q", l.method, client.ErrRepeatedListCursor, next))
				return
			}
			request = l.At(request, next).(*Req)
		}
	}
}

// IterTools yields the server's tools and fetches each page, through the
// chain, when it is needed. An error is yielded once, as the last element;
// what was yielded before stays valid. A server whose cursor does not advance
// ends the iteration with [client.ErrRepeatedListCursor]; one that makes up
// ever new cursors does not end it, so bound it by ctx or break out of it.
func (c *Client) IterTools(ctx context.Context, request mcp.ListToolsRequest) iter.Seq2[mcp.Tool, error] {
	return tools.each(ctx, c, request)
}

// IterResources yields the server's resources as [Client.IterTools] does tools.
func (c *Client) IterResources(ctx context.Context, request mcp.ListResourcesRequest) iter.Seq2[mcp.Resource, error] {
	return resources.each(ctx, c, request)
}

// IterResourceTemplates yields the server's resource templates as
// [Client.IterTools] does tools.
func (c *Client) IterResourceTemplates(ctx context.Context, request mcp.ListResourceTemplatesRequest) iter.Seq2[mcp.ResourceTemplate, error] {
	return resourceTemplates.each(ctx, c, request)
}

// IterPrompts yields the server's prompts as [Client.IterTools] does tools.
func (c *Client) IterPrompts(ctx context.Context, request mcp.ListPromptsRequest) iter.Seq2[mcp.Prompt, error] {
	return prompts.each(ctx, c, request)
}
