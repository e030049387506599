package middleware

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// Pages turns a call for a whole list into a call for each of its pages, so
// that the middlewares inside see single pages, and puts the pages together.
// A walk is bounded by [PageLimits], ends with an error when a cursor comes
// back that was used before, and keeps what it received in a
// [PartialListError]. The failure of the first page is returned unchanged.
func Pages(opts ...Option) mcpclient.Middleware {
	limits := apply(opts).limits
	return func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			list, ok := call.List()
			if !ok || call.Op == list.PageOp() {
				return next(ctx, call)
			}
			ctx, cancel := context.WithTimeout(ctx, limits.Walk)
			defer cancel()
			w := walk{list: list, limits: limits, call: call, next: next}
			w.call.Op = list.PageOp()
			return w.run(ctx)
		}
	}
}

// walk is the state of one call for a whole list.
type walk struct {
	list   mcpclient.List
	limits PageLimits
	call   mcpclient.Call
	next   mcpclient.Handler

	pages []any
	items int
	seen  map[mcp.Cursor]struct{}
}

func (w *walk) run(ctx context.Context) (any, error) {
	for {
		page, err := w.next(ctx, w.call)
		if err != nil {
			return nil, w.failed(err)
		}
		cursor, err := w.take(page)
		if err != nil {
			return nil, w.failed(err)
		}
		if cursor == "" {
			return w.whole(), nil
		}
		w.call.Request = w.list.At(w.call.Request, cursor)
	}
}

// take adds a page and returns the cursor of the one that follows.
func (w *walk) take(page any) (mcp.Cursor, error) {
	if err := w.list.Check(page); err != nil {
		return "", err
	}
	count, _ := w.list.Len(page)
	w.pages = append(w.pages, page)
	w.items += count
	next := w.list.Next(page)
	if next == "" && w.items <= w.limits.Items {
		return "", nil
	}
	return next, w.check(next)
}

func (w *walk) check(next mcp.Cursor) error {
	if w.items > w.limits.Items {
		return fmt.Errorf("%w: more than %d", ErrTooManyItems, w.limits.Items)
	}
	if len(w.pages) >= w.limits.Pages {
		return fmt.Errorf("%w: more than %d", ErrTooManyPages, w.limits.Pages)
	}
	if w.seen == nil {
		w.seen = map[mcp.Cursor]struct{}{}
	}
	w.seen[w.list.Cursor(w.call.Request)] = struct{}{}
	if _, again := w.seen[next]; again {
		return fmt.Errorf("%w: %q", client.ErrRepeatedListCursor, next)
	}
	return nil
}

func (w *walk) whole() any {
	if len(w.pages) == 1 {
		return w.pages[0]
	}
	return w.list.Join(w.pages)
}

func (w *walk) failed(err error) error {
	if len(w.pages) == 0 {
		return err
	}
	return &PartialListError{Method: w.call.Method, Received: w.whole(), Pages: len(w.pages), Items: w.items, Err: err}
}
