package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tools makes a page of tools.
func tools(next mcp.Cursor, names ...string) *mcp.ListToolsResult {
	page := &mcp.ListToolsResult{PaginatedResult: mcp.PaginatedResult{NextCursor: next}, Tools: []mcp.Tool{}}
	for _, name := range names {
		page.Tools = append(page.Tools, mcp.Tool{Name: name})
	}
	return page
}

// book answers each cursor of a tools/list page with a page or an error, and
// notes which were asked for.
type book struct {
	pages map[mcp.Cursor]any
	asked []mcp.Cursor
}

func (b *book) answer(_ context.Context, call mcpclient.Call) (any, error) {
	if call.Op != "ListToolsByPage" {
		return nil, fmt.Errorf("unexpected %s", call.Op)
	}
	cursor := call.Request.(*mcp.ListToolsRequest).Params.Cursor
	b.asked = append(b.asked, cursor)
	if err, failed := b.pages[cursor].(error); failed {
		return nil, err
	}
	return b.pages[cursor], nil
}

// list asks for all tools, through Pages.
func (b *book) list(t *testing.T, opts ...middleware.Option) (*mcp.ListToolsResult, error) {
	t.Helper()
	return connect(t, newServer(t, everything), b.answer, middleware.Pages(opts...)).ListTools(t.Context(), mcp.ListToolsRequest{})
}

// partial asserts a PartialListError and what it keeps.
func partial(t *testing.T, err, reason error, pages int, next mcp.Cursor, names ...string) *middleware.PartialListError {
	t.Helper()
	var failed *middleware.PartialListError
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, reason)
	assert.Equal(t, mcp.MethodToolsList, failed.Method)
	assert.Equal(t, pages, failed.Pages)
	assert.Equal(t, len(names), failed.Items)
	assert.Equal(t, tools(next, names...), failed.Received)
	return failed
}

func TestPagesJoinsAllPages(t *testing.T) {
	t.Parallel()
	b := &book{pages: map[mcp.Cursor]any{"": tools("2", "a", "b"), "2": tools("3"), "3": tools("", "c")}}
	all, err := b.list(t)
	require.NoError(t, err)
	assert.Equal(t, tools("", "a", "b", "c"), all)
	assert.Equal(t, []mcp.Cursor{"", "2", "3"}, b.asked)
	assert.Equal(t, tools("2", "a", "b"), b.pages[""], "the pages stay what they were")
}

func TestAListOfOnePageIsThatPage(t *testing.T) {
	t.Parallel()
	b := &book{pages: map[mcp.Cursor]any{"": tools("", "a")}}
	all, err := b.list(t)
	require.NoError(t, err)
	assert.Same(t, b.pages[""], all)
}

func TestPagesStartsAtTheCallersCursorAndKeepsHisRequest(t *testing.T) {
	t.Parallel()
	request := &mcp.ListToolsRequest{Header: http.Header{"X-Test": {"yes"}}}
	request.Params.Cursor = "2"
	var asked []*mcp.ListToolsRequest
	c := connect(t, newServer(t, everything), func(_ context.Context, call mcpclient.Call) (any, error) {
		asked = append(asked, call.Request.(*mcp.ListToolsRequest))
		if len(asked) == 1 {
			return tools("3", "b"), nil
		}
		return tools("", "c"), nil
	}, func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			if call.Op == "ListTools" {
				call.Request = request
			}
			return next(ctx, call)
		}
	}, middleware.Pages())

	all, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})

	require.NoError(t, err)
	assert.Equal(t, tools("", "b", "c"), all)
	assert.Equal(t, mcp.Cursor("2"), request.Params.Cursor, "the caller's request")
	require.Len(t, asked, 2)
	assert.Equal(t, []mcp.Cursor{"2", "3"}, []mcp.Cursor{asked[0].Params.Cursor, asked[1].Params.Cursor})
	assert.Equal(t, request.Header, asked[1].Header, "the rest of the request goes along")
}

func TestPagesLeavesOtherCallsAlone(t *testing.T) {
	t.Parallel()
	var seen []string
	c := connect(t, newServer(t, everything), func(_ context.Context, call mcpclient.Call) (any, error) {
		seen = append(seen, call.Op)
		if call.Op == "ListToolsByPage" {
			return tools("2", "a"), nil
		}
		return nil, nil
	}, middleware.Pages())

	page, err := c.ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Equal(t, tools("2", "a"), page)
	require.NoError(t, c.Ping(t.Context()))
	require.NoError(t, c.SetLevel(t.Context(), mcp.SetLevelRequest{}))
	assert.Equal(t, []string{"ListToolsByPage", "Ping", "SetLevel"}, seen)
}

func TestAFailureOfTheFirstPageIsReturnedUnchanged(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	_, err := (&book{pages: map[mcp.Cursor]any{"": failed}}).list(t)
	assert.Same(t, failed, err)
}

func TestWhatWasReceivedIsKept(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pages  map[mcp.Cursor]any
		limits middleware.PageLimits
		reason error
		count  int
		next   mcp.Cursor
		names  []string
		text   string
	}{
		"a later page fails": {
			pages:  map[mcp.Cursor]any{"": tools("2", "a"), "2": tools("3", "b", "c"), "3": errUnknownMethod},
			reason: mcp.ErrMethodNotFound, count: 2, next: "3", names: []string{"a", "b", "c"},
			text: "tools/list failed after 2 pages with 3 entries: method not found: Unknown method",
		},
		"the same cursor comes again": {
			pages:  map[mcp.Cursor]any{"": tools("2", "a"), "2": tools("2", "b")},
			reason: client.ErrRepeatedListCursor, count: 2, next: "2", names: []string{"a", "b"},
			text: `tools/list failed after 2 pages with 2 entries: list cursor did not advance: "2"`,
		},
		"the cursors go round in a loop": {
			pages:  map[mcp.Cursor]any{"": tools("2", "a"), "2": tools("3", "b"), "3": tools("2", "c")},
			reason: client.ErrRepeatedListCursor, count: 3, next: "2", names: []string{"a", "b", "c"},
			text: `tools/list failed after 3 pages with 3 entries: list cursor did not advance: "2"`,
		},
		"too many pages": {
			pages:  map[mcp.Cursor]any{"": tools("2", "a"), "2": tools("3", "b"), "3": tools("4", "c")},
			limits: middleware.PageLimits{Pages: 2},
			reason: middleware.ErrTooManyPages, count: 2, next: "3", names: []string{"a", "b"},
			text: "tools/list failed after 2 pages with 2 entries: too many pages: more than 2",
		},
		"too many entries on a page": {
			pages:  map[mcp.Cursor]any{"": tools("", "a", "b", "c")},
			limits: middleware.PageLimits{Items: 2},
			reason: middleware.ErrTooManyItems, count: 1, names: []string{"a", "b", "c"},
			text: "tools/list failed after 1 pages with 3 entries: too many entries: more than 2",
		},
		"too many entries on all pages together": {
			pages:  map[mcp.Cursor]any{"": tools("2", "a", "b"), "2": tools("3", "c"), "3": tools("", "d")},
			limits: middleware.PageLimits{Items: 2},
			reason: middleware.ErrTooManyItems, count: 2, next: "3", names: []string{"a", "b", "c"},
			text: "tools/list failed after 2 pages with 3 entries: too many entries: more than 2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &book{pages: test.pages}
			_, err := b.list(t, middleware.WithPageLimits(test.limits))
			partial(t, err, test.reason, test.count, test.next, test.names...)
			assert.EqualError(t, err, test.text)
			asked := test.count
			if _, failing := test.pages[test.next].(error); failing {
				asked++
			}
			assert.Len(t, b.asked, asked, "no page is asked for that nobody will look at")
		})
	}
}

func TestAListMayBeExactlyAsLongAsTheLimits(t *testing.T) {
	t.Parallel()
	b := &book{pages: map[mcp.Cursor]any{"": tools("2", "a", "b"), "2": tools("", "c")}}
	all, err := b.list(t, middleware.WithPageLimits(middleware.PageLimits{Pages: 2, Items: 3}))
	require.NoError(t, err)
	assert.Equal(t, tools("", "a", "b", "c"), all)
}

// endless is a hostile pager: each page leads to a new one.
func endless(size int, pause time.Duration) answer {
	entries := tools("", make([]string, size)...).Tools
	return func(ctx context.Context, call mcpclient.Call) (any, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		n, _ := strconv.Atoi(string(call.Request.(*mcp.ListToolsRequest).Params.Cursor))
		page := tools(mcp.Cursor(strconv.Itoa(n + 1)))
		page.Tools = entries
		return page, nil
	}
}

func TestAHostilePagerMeetsTheDefaultLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pager        answer
		reason       error
		pages, items int
		took         time.Duration
	}{
		"pages without end":          {endless(1, time.Millisecond), middleware.ErrTooManyPages, 1_000, 1_000, time.Second},
		"empty pages without end":    {endless(0, time.Millisecond), middleware.ErrTooManyPages, 1_000, 0, time.Second},
		"entries without end":        {endless(1_001, time.Millisecond), middleware.ErrTooManyItems, 100, 100_100, 100 * time.Millisecond},
		"pages that take their time": {endless(1, 50*time.Second), context.DeadlineExceeded, 2, 2, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				c := connect(t, newServer(t, everything), test.pager, middleware.Pages())
				err := listTools(t.Context(), c)
				var failed *middleware.PartialListError
				require.ErrorAs(t, err, &failed)
				require.ErrorIs(t, err, test.reason)
				assert.Equal(t, test.pages, failed.Pages)
				assert.Equal(t, test.items, failed.Items)
				assert.Len(t, failed.Received.(*mcp.ListToolsResult).Tools, test.items)
				assert.Equal(t, test.took, time.Since(start))
			})
		})
	}
}

func TestPageLimitsReplaceTheDefaultsOneByOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits middleware.PageLimits
		reason error
		pages  int
	}{
		"pages":             {middleware.PageLimits{Pages: 7}, middleware.ErrTooManyPages, 7},
		"entries":           {middleware.PageLimits{Items: 7}, middleware.ErrTooManyItems, 8},
		"time":              {middleware.PageLimits{Walk: 7500 * time.Millisecond}, context.DeadlineExceeded, 6},
		"none":              {middleware.PageLimits{}, context.DeadlineExceeded, 109},
		"nonsense is none":  {middleware.PageLimits{Pages: -1, Items: -1, Walk: -1}, context.DeadlineExceeded, 109},
		"the caller's time": {middleware.PageLimits{Walk: time.Hour}, context.DeadlineExceeded, 163},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				c := connect(t, newServer(t, everything), endless(1, 1100*time.Millisecond), middleware.Pages(middleware.WithPageLimits(test.limits)))
				var failed *middleware.PartialListError
				require.ErrorAs(t, listTools(ctx, c), &failed)
				require.ErrorIs(t, failed, test.reason)
				assert.Equal(t, test.pages, failed.Pages)
			})
		})
	}
}

func TestAWalkEndsWhenItsCallerCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, cancel)
		c := connect(t, newServer(t, everything), endless(1, time.Second), middleware.Pages())
		err := listTools(ctx, c)
		partial(t, err, context.Canceled, 2, "2", "", "")
	})
}

func TestAPageThatIsNoneIsAContractErrorAndNeverAPanic(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]any{"nothing": nil, "a typed nil": (*mcp.ListToolsResult)(nil), "another result": &mcp.ListPromptsResult{}} {
		var broken *mcpclient.ContractError
		_, err := (&book{pages: map[mcp.Cursor]any{"": page}}).list(t)
		require.ErrorAs(t, err, &broken, name)
		assert.Equal(t, "ListToolsByPage", broken.Op)

		_, err = (&book{pages: map[mcp.Cursor]any{"": tools("2", "a"), "2": page}}).list(t)
		require.ErrorAs(t, err, &broken, name)
		partial(t, err, err, 1, "2", "a")
	}
}
