package mcpclient_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kind is one of the four lists, with its types put aside.
type kind struct {
	method  mcp.MCPMethod
	whole   string // the operation for all pages
	request func(cursor mcp.Cursor) any
	page    func(next mcp.Cursor, names ...string) any // no names: no list at all
	names   func(result any) []string
	all     func(ctx context.Context, c *mcpclient.Client, from mcp.Cursor) iter.Seq2[string, error]
}

func (k kind) pageOp() string { return k.whole + "ByPage" }

func (k kind) list(t testing.TB) mcpclient.List {
	t.Helper()
	list, ok := mcpclient.Call{Method: k.method, Request: k.request("")}.List()
	require.True(t, ok)
	return list
}

// named makes entries of names; no names make no list.
func named[Item any](names []string, entry func(string) Item) []Item {
	if len(names) == 0 {
		return nil
	}
	items := make([]Item, 0, len(names))
	for _, name := range names {
		items = append(items, entry(name))
	}
	return items
}

func namesOf[Item any](items []Item, name func(Item) string) []string {
	names := make([]string, 0, len(items))
	for _, item := range items {
		names = append(names, name(item))
	}
	return names
}

func byName[Item any](items iter.Seq2[Item, error], name func(Item) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range items {
			if !yield(name(item), err) {
				return
			}
		}
	}
}

func paged(next mcp.Cursor) mcp.PaginatedResult { return mcp.PaginatedResult{NextCursor: next} }

func from(cursor mcp.Cursor) mcp.PaginatedRequest {
	return mcp.PaginatedRequest{Params: mcp.PaginatedParams{Cursor: cursor}}
}

func kinds() []kind {
	tool := func(item mcp.Tool) string { return item.Name }
	resource := func(item mcp.Resource) string { return item.Name }
	template := func(item mcp.ResourceTemplate) string { return item.Name }
	prompt := func(item mcp.Prompt) string { return item.Name }
	return []kind{
		{
			"tools/list", "ListTools",
			func(cursor mcp.Cursor) any { return &mcp.ListToolsRequest{PaginatedRequest: from(cursor)} },
			func(next mcp.Cursor, names ...string) any {
				return &mcp.ListToolsResult{PaginatedResult: paged(next), Tools: named(names, func(name string) mcp.Tool { return mcp.Tool{Name: name} })}
			},
			func(result any) []string { return namesOf(result.(*mcp.ListToolsResult).Tools, tool) },
			func(ctx context.Context, c *mcpclient.Client, cursor mcp.Cursor) iter.Seq2[string, error] {
				return byName(c.IterTools(ctx, mcp.ListToolsRequest{PaginatedRequest: from(cursor)}), tool)
			},
		},
		{
			"resources/list", "ListResources",
			func(cursor mcp.Cursor) any { return &mcp.ListResourcesRequest{PaginatedRequest: from(cursor)} },
			func(next mcp.Cursor, names ...string) any {
				return &mcp.ListResourcesResult{PaginatedResult: paged(next), Resources: named(names, func(name string) mcp.Resource { return mcp.Resource{Name: name} })}
			},
			func(result any) []string { return namesOf(result.(*mcp.ListResourcesResult).Resources, resource) },
			func(ctx context.Context, c *mcpclient.Client, cursor mcp.Cursor) iter.Seq2[string, error] {
				return byName(c.IterResources(ctx, mcp.ListResourcesRequest{PaginatedRequest: from(cursor)}), resource)
			},
		},
		{
			"resources/templates/list", "ListResourceTemplates",
			func(cursor mcp.Cursor) any {
				return &mcp.ListResourceTemplatesRequest{PaginatedRequest: from(cursor)}
			},
			func(next mcp.Cursor, names ...string) any {
				return &mcp.ListResourceTemplatesResult{PaginatedResult: paged(next), ResourceTemplates: named(names, func(name string) mcp.ResourceTemplate { return mcp.ResourceTemplate{Name: name} })}
			},
			func(result any) []string {
				return namesOf(result.(*mcp.ListResourceTemplatesResult).ResourceTemplates, template)
			},
			func(ctx context.Context, c *mcpclient.Client, cursor mcp.Cursor) iter.Seq2[string, error] {
				return byName(c.IterResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{PaginatedRequest: from(cursor)}), template)
			},
		},
		{
			"prompts/list", "ListPrompts",
			func(cursor mcp.Cursor) any { return &mcp.ListPromptsRequest{PaginatedRequest: from(cursor)} },
			func(next mcp.Cursor, names ...string) any {
				return &mcp.ListPromptsResult{PaginatedResult: paged(next), Prompts: named(names, func(name string) mcp.Prompt { return mcp.Prompt{Name: name} })}
			},
			func(result any) []string { return namesOf(result.(*mcp.ListPromptsResult).Prompts, prompt) },
			func(ctx context.Context, c *mcpclient.Client, cursor mcp.Cursor) iter.Seq2[string, error] {
				return byName(c.IterPrompts(ctx, mcp.ListPromptsRequest{PaginatedRequest: from(cursor)}), prompt)
			},
		},
	}
}

// forEachKind runs a test for each of the four lists.
func forEachKind(t *testing.T, test func(t *testing.T, k kind)) {
	t.Helper()
	for _, k := range kinds() {
		t.Run(string(k.method), func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// paging is a server that answers a cursor with a page, and any other with an
// error.
func (k kind) paging(pages map[mcp.Cursor]any) *fake {
	return &fake{answer: func(_ context.Context, op string, request any) (any, error) {
		page, ok := pages[cursorOf(request)]
		if op != k.pageOp() || !ok {
			return nil, errors.New("unexpected " + op)
		}
		return page, nil
	}}
}

// cursorOf is the cursor of a list request, by value or pointer.
func cursorOf(request any) mcp.Cursor {
	return reflect.Indirect(reflect.ValueOf(request)).FieldByName("Params").Interface().(mcp.PaginatedParams).Cursor
}

func TestIteratorsFetchPagesThroughTheChain(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		inner := k.paging(map[mcp.Cursor]any{"": k.page("2", "a", "b"), "2": k.page("3"), "3": k.page("", "c")})
		var seen recorder
		all := k.all(t.Context(), mcpclient.Wrap(inner, seen.middleware), "")
		for range 2 { // a sequence can be run again
			var names []string
			for name, err := range all {
				require.NoError(t, err)
				names = append(names, name)
			}
			assert.Equal(t, []string{"a", "b", "c"}, names)
		}
		asked := make([]mcp.Cursor, 0, len(seen.calls()))
		for _, call := range seen.calls() {
			assert.Equal(t, k.pageOp(), call.Op)
			assert.Equal(t, k.method, call.Method)
			asked = append(asked, cursorOf(call.Request)) // also: a request that was kept does not change
		}
		assert.Equal(t, []mcp.Cursor{"", "2", "3", "", "2", "3"}, asked)
		assert.Len(t, inner.calls(), 6)
	})
}

func TestIteratorsFetchAPageWhenItIsNeeded(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		inner := k.paging(map[mcp.Cursor]any{"": k.page("2", "a", "b"), "2": k.page("3", "c")})
		c := mcpclient.Wrap(inner)
		all := k.all(t.Context(), c, "")
		assert.Empty(t, inner.calls(), "nothing is asked before the first element")
		for name := range all {
			if name == "b" {
				break
			}
		}
		assert.Len(t, inner.calls(), 1, "the last entry of a page needs no other page")
		for name := range all {
			if name == "c" {
				break
			}
		}
		assert.Len(t, inner.calls(), 3)
	})
}

func TestIteratorsStartAtTheCallersCursor(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		inner := k.paging(map[mcp.Cursor]any{"2": k.page("", "b")})
		next, stop := iter.Pull2(k.all(t.Context(), mcpclient.Wrap(inner), "2"))
		defer stop()
		name, err, ok := next()
		assert.True(t, ok)
		require.NoError(t, err)
		assert.Equal(t, "b", name)
		_, _, ok = next()
		assert.False(t, ok)
	})
}

// collect takes all names and the error that ended them, which must come last.
func collect(t *testing.T, all iter.Seq2[string, error]) (names []string, failed error) {
	t.Helper()
	for name, err := range all {
		require.NoError(t, failed, "nothing follows an error")
		if err != nil {
			assert.Empty(t, name)
			failed = err
			continue
		}
		names = append(names, name)
	}
	return names, failed
}

func TestIteratorsEndWithTheirError(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		failed := errors.New("failed")
		inner := &fake{answer: func(_ context.Context, _ string, request any) (any, error) {
			if cursorOf(request) == "2" {
				return nil, failed
			}
			return k.page("2", "a"), nil
		}}
		names, err := collect(t, k.all(t.Context(), mcpclient.Wrap(inner), ""))
		assert.Equal(t, []string{"a"}, names, "what was yielded before stays valid")
		assert.Same(t, failed, err)
	})
}

func TestIteratorsEndWhenACursorDoesNotAdvance(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		for name, test := range map[string]struct {
			pages map[mcp.Cursor]any
			from  mcp.Cursor
			want  []string
			again string
		}{
			"the same cursor again":    {map[mcp.Cursor]any{"": k.page("2", "a"), "2": k.page("2", "b")}, "", []string{"a", "b"}, "2"},
			"a loop of two":            {map[mcp.Cursor]any{"": k.page("2", "a"), "2": k.page("3", "b"), "3": k.page("2", "c")}, "", []string{"a", "b", "c"}, "2"},
			"back to where it started": {map[mcp.Cursor]any{"7": k.page("8", "a"), "8": k.page("7", "b")}, "7", []string{"a", "b"}, "7"},
		} {
			inner := k.paging(test.pages)
			names, err := collect(t, k.all(t.Context(), mcpclient.Wrap(inner), test.from))
			assert.Equal(t, test.want, names, name)
			require.ErrorIs(t, err, client.ErrRepeatedListCursor, name)
			assert.EqualError(t, err, string(k.method)+`: list cursor did not advance: "`+test.again+`"`, name)
			assert.Len(t, inner.calls(), len(test.pages), "%s: no page is fetched twice", name)
		}
	})
}

func TestACallSaysWhichListItAsksFor(t *testing.T) {
	t.Parallel()
	lists := map[string]string{}
	for _, k := range kinds() {
		lists[k.whole], lists[k.pageOp()] = k.pageOp(), k.pageOp()
	}
	for _, m := range methods(t) {
		var seen recorder
		_, err := m.call(t.Context(), t, mcpclient.Wrap(&fake{}, seen.middleware), m.newRequest())
		require.NoError(t, err)
		list, ok := seen.calls()[0].List()
		assert.Equal(t, lists[m.name] != "", ok, m.name)
		if ok {
			assert.Equal(t, lists[m.name], list.PageOp(), m.name)
		}
	}
	for name, request := range map[string]any{
		"nil": nil, "a typed nil": (*mcp.ListToolsRequest)(nil), "a foreign request": &foreign{}, "another list's request": &mcp.ListPromptsRequest{},
	} {
		_, ok := mcpclient.Call{Op: "ListTools", Method: mcp.MethodToolsList, Request: request}.List()
		assert.False(t, ok, name)
	}
}

func TestListCheckSaysWhatIsNoPage(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		list := k.list(t)
		require.NoError(t, list.Check(k.page("")))
		want := reflect.TypeOf(k.page("")).String()
		for got, result := range map[string]any{
			"nil":                         nil,
			"a nil " + want:               reflect.Zero(reflect.TypeOf(k.page(""))).Interface(),
			"a *mcpclient_test.foreign":   &foreign{},
			"a *mcp.ListToolsRequest":     &mcp.ListToolsRequest{},
			"a mcp.ListRootsResult":       mcp.ListRootsResult{},
			"a nil *mcp.InitializeResult": (*mcp.InitializeResult)(nil),
		} {
			assert.Equal(t, &mcpclient.ContractError{Op: k.pageOp(), Part: "result", Want: want, Got: got}, list.Check(result))
		}
	})
}

func TestListAtCopiesTheRequest(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		list, request := k.list(t), k.request("1")
		assert.Equal(t, mcp.Cursor("1"), list.Cursor(request))

		next := list.At(request, "2")

		assert.Equal(t, k.request("2"), next)
		assert.Equal(t, k.request("1"), request, "the request that was handed in")
	})
}

func TestListLenTellsAnEmptyListFromNone(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		list := k.list(t)
		n, ok := list.Len(k.page("", "a", "b"))
		assert.True(t, ok)
		assert.Equal(t, 2, n)
		n, ok = list.Len(list.OrEmpty(nil))
		assert.True(t, ok)
		assert.Zero(t, n)
		n, ok = list.Len(k.page("2"))
		assert.False(t, ok)
		assert.Zero(t, n)
	})
}

// withMeta sets the result's _meta, for all four lists.
func withMeta(result any, meta *mcp.Meta) any {
	reflect.ValueOf(result).Elem().FieldByName("Meta").Set(reflect.ValueOf(meta))
	return result
}

func metaOf(result any) any {
	return reflect.ValueOf(result).Elem().FieldByName("Meta").Interface()
}

func TestListOrEmptyKeepsTheRestOfTheResult(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		list, meta := k.list(t), &mcp.Meta{AdditionalFields: map[string]any{"k": "v"}}

		none := withMeta(k.page("2"), meta)
		empty := list.OrEmpty(none)
		_, ok := list.Len(empty)
		assert.True(t, ok, "a list at last")
		assert.Equal(t, mcp.Cursor("2"), list.Next(empty))
		assert.Same(t, meta, metaOf(empty))
		_, ok = list.Len(none)
		assert.False(t, ok, "the result that was handed in")

		assert.Equal(t, []string{"a"}, k.names(list.OrEmpty(k.page("", "a"))))
		assert.NoError(t, list.Check(list.OrEmpty(nil)))
		assert.Empty(t, list.Next(list.OrEmpty(nil)))
	})
}

func TestListJoinHasAllEntriesTheFirstPagesMetaAndTheLastPagesCursor(t *testing.T) {
	t.Parallel()
	forEachKind(t, func(t *testing.T, k kind) {
		list, meta := k.list(t), &mcp.Meta{AdditionalFields: map[string]any{"k": "v"}}
		pages := []any{withMeta(k.page("2", "a", "b"), meta), k.page("3"), k.page("4", "c")}

		joined := list.Join(pages)

		assert.Equal(t, []string{"a", "b", "c"}, k.names(joined))
		assert.Equal(t, mcp.Cursor("4"), list.Next(joined))
		assert.Same(t, meta, metaOf(joined))
		assert.Equal(t, []string{"a", "b"}, k.names(pages[0]), "the pages stay what they were")
		assert.Equal(t, mcp.Cursor("2"), list.Next(pages[0]))
		_, ok := list.Len(list.Join([]any{k.page("")}))
		assert.True(t, ok, "pages without a list join to an empty one")
	})
}
