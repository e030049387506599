package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pager answers the list requests of a client with its pages, in their order
// and whatever cursor it is asked for. After the last it begins anew, with new
// entries: it never ends by itself.
type pager struct {
	*server
	pages   []pagerPage
	cursors []string // that it was asked for, in order
	given   names    // the entries that it gave, in order
	last    names    // those of the last page alone
	next    string   // the last cursor that it gave
	failed  bool
}

// pagerPage is one page, or a failure. A fresh page has a cursor that was
// never there before.
type pagerPage struct {
	entries int
	next    string
	fresh   bool
	fails   bool
}

func (p *pager) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	for _, l := range lists {
		if l.method == request.Method {
			p.answers[l.method] = p.turn(l, cursorOf(request.Params))
			request.Params = nil // the server beneath looks at no cursor
		}
	}
	return p.server.SendRequest(ctx, request)
}

func (p *pager) turn(l list, cursor string) any {
	number := len(p.cursors)
	p.cursors = append(p.cursors, cursor)
	page := p.pages[number%len(p.pages)]
	p.failed = page.fails
	if page.fails {
		return unknownMethod
	}
	p.last = names{}
	for i := range page.entries {
		p.last = append(p.last, fmt.Sprintf("e%d_%d", number, i))
	}
	p.given = append(p.given, p.last...)
	p.next = page.next
	if page.fresh {
		p.next = freshCursor(number)
	}
	return l.of(p.next, p.last...)
}

func freshCursor(number int) string { return fmt.Sprintf("fresh %d", number) }

// somePages are hostile: cursors that come back, at once or after a while,
// empty pages, huge ones, failures, cursors in any script, and often no end.
func somePages(t *rapid.T) []pagerPage {
	cursor := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "A", "a ", "b", "ä", "😀", "\u0000", "é", "e\u0301"}),
		rapid.StringN(1, 8, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("xyü")), 200, 400, -1),
	)
	endless := rapid.Bool().Draw(t, "endless")
	page := rapid.Custom(func(t *rapid.T) pagerPage {
		p := pagerPage{fresh: rapid.IntRange(0, 3).Draw(t, "fresh") > 0}
		if p.entries = rapid.IntRange(0, 4).Draw(t, "entries"); p.entries == 4 {
			p.entries = rapid.SampledFrom([]int{4, 50, 500}).Draw(t, "many entries")
		}
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind == 0 && !endless:
			p.fails = true
		case kind == 1 && !endless:
			p.fresh = false // the end
		case !p.fresh:
			p.next = cursor.Draw(t, "next")
		}
		return p
	})
	return rapid.SliceOfN(page, 1, 12).Draw(t, "pages")
}

// TestPagesAgainstHostilePagers wants of every walk that it ends, within its
// bounds, for a reason that is true and no sooner, and that the caller gets
// everything that was received, in order and once.
func TestPagesAgainstHostilePagers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := rapid.SampledFrom(lists).Draw(rt, "list")
		p := &pager{server: l.promising(nil), pages: somePages(rt)}
		limits := middleware.PageLimits{
			Pages: rapid.IntRange(1, 30).Draw(rt, "most pages"),
			Items: rapid.IntRange(1, 1_000).Draw(rt, "most entries"),
		}
		start := rapid.SampledFrom([]string{"", "", "a", "ä"}).Draw(rt, "start")
		inner := client.NewClient(p, client.WithProtocolVersion(rapid.SampledFrom([]string{legacy, modern}).Draw(rt, "era")))
		require.NoError(rt, inner.Start(rt.Context()))
		c := mcpclient.Wrap(inner, middleware.Pages(middleware.WithPageLimits(limits)))
		_, err := c.Initialize(rt.Context(), mcp.InitializeRequest{})
		require.NoError(rt, err)

		got, err := sceneMethods[l.method](rt.Context(), c, true, mcp.Cursor(start))

		p.followed(rt, start, limits)
		var partial *middleware.PartialListError
		switch {
		case err == nil:
			require.Equal(rt, append(names{}, p.given...), got, "all entries, in order and once")
		case errors.As(err, &partial):
			require.Nil(rt, got)
			require.Equal(rt, append(names{}, p.given...), partialEntries(rt, partial.Received))
			require.Equal(rt, len(p.given), partial.Items)
		default:
			require.True(rt, p.failed)
			require.Len(rt, p.cursors, 1, "only the first page fails with nothing received")
		}
		require.Contains(rt, p.reasons(limits), reasonOf(err), "%v", err)
		if partial != nil {
			require.Equal(rt, p.received(), partial.Pages)
		}
	})
}

// followed says that the walk asked for what the pages named, for no page
// twice, and had no reason to end before it did.
func (p *pager) followed(t *rapid.T, start string, limits middleware.PageLimits) {
	require.NotEmpty(t, p.cursors)
	require.Equal(t, start, p.cursors[0])
	seen := map[string]bool{}
	for i, cursor := range p.cursors {
		require.False(t, seen[cursor], "asked twice for %q", cursor)
		seen[cursor] = true
		if i > 0 {
			before := p.pages[(i-1)%len(p.pages)]
			require.False(t, before.fails, "went on after a failure")
			want := before.next
			if before.fresh {
				want = freshCursor(i - 1)
			}
			require.Equal(t, want, cursor)
			require.NotEmpty(t, cursor, "went on after the end")
		}
	}
	require.LessOrEqual(t, len(p.cursors), limits.Pages)
	before := len(p.given)
	if !p.failed {
		before -= len(p.last)
	}
	require.LessOrEqual(t, before, limits.Items, "went on although there were too many entries")
}

// received is how many pages the walk got.
func (p *pager) received() int {
	if p.failed {
		return len(p.cursors) - 1
	}
	return len(p.cursors)
}

// reasons are those that the walk had to end where it did.
func (p *pager) reasons(limits middleware.PageLimits) []string {
	if p.failed {
		return []string{"a page failed"}
	}
	var reasons []string
	if len(p.given) > limits.Items {
		reasons = append(reasons, "too many entries")
	} else if p.next == "" {
		reasons = append(reasons, "the end")
	}
	if p.next != "" && len(p.cursors) == limits.Pages {
		reasons = append(reasons, "too many pages")
	}
	if p.next != "" && slices.Contains(p.cursors, p.next) {
		reasons = append(reasons, "a cursor came back")
	}
	return reasons
}

func reasonOf(err error) string {
	switch {
	case err == nil:
		return "the end"
	case errors.Is(err, mcp.ErrMethodNotFound):
		return "a page failed"
	case errors.Is(err, middleware.ErrTooManyItems):
		return "too many entries"
	case errors.Is(err, middleware.ErrTooManyPages):
		return "too many pages"
	case errors.Is(err, client.ErrRepeatedListCursor):
		return "a cursor came back"
	default:
		return err.Error()
	}
}
