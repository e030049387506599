package middleware_test

import (
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachListIsPutTogetherFromItsPages(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		for _, l := range lists {
			s := l.promising(l.of("2", "a", "b"))
			s.answers[l.method+" 2"] = l.of("3")
			s.answers[l.method+" 3"] = l.of("", "c")
			got, err := l.whole(t.Context(), s.connect(t, era, middleware.Default(nil, nil)))
			require.NoError(t, err)
			assert.Equal(t, names{"a", "b", "c"}, got)
			assert.Equal(t, []string{l.method, l.method + " 2", l.method + " 3"}, s.requests())
		}
	})
}

func TestHostilePagers(t *testing.T) {
	t.Parallel()
	for _, l := range lists {
		tests := map[string]struct {
			pages    map[int]string // the first has no cursor, the others their number
			reason   error
			requests int
			items    int
		}{
			"the same cursor for ever": {map[int]string{1: l.of("2", "a"), 2: l.of("2", "b")}, client.ErrRepeatedListCursor, 2, 2},
			"a loop":                   {map[int]string{1: l.of("2", "a"), 2: l.of("3", "b"), 3: l.of("2", "c")}, client.ErrRepeatedListCursor, 3, 3},
			"one page too many": {
				map[int]string{1: l.of("2", "a"), 2: l.of("3", "b"), 3: l.of("4", "c"), 4: l.of("5", "d")},
				middleware.ErrTooManyPages, 4, 4,
			},
			"a page with too many entries": {map[int]string{1: l.of("2", "a"), 2: l.of("3", "b", "c", "d", "e", "f", "g")}, middleware.ErrTooManyItems, 2, 7},
		}
		for name, test := range tests {
			t.Run(l.method+": "+name, func(t *testing.T) {
				t.Parallel()
				s := l.promising(nil)
				for number, page := range test.pages {
					s.answers[fmt.Sprintf("%s %d", l.method, number)] = page
				}
				s.answers[l.method] = test.pages[1]
				limits := middleware.WithPageLimits(middleware.PageLimits{Pages: 4, Items: 6})
				got, err := l.whole(t.Context(), s.connect(t, legacy, middleware.Default(nil, nil, limits)))
				assert.Nil(t, got)
				require.ErrorIs(t, err, test.reason)
				var partial *middleware.PartialListError
				require.ErrorAs(t, err, &partial)
				assert.Equal(t, l.method, string(partial.Method))
				assert.Equal(t, test.requests, partial.Pages)
				assert.Equal(t, test.items, partial.Items)
				assert.Len(t, s.requests(), test.requests)
			})
		}
	}
}

// TestAMalformedPageInTheMiddle shows where Tolerance stands: inside Pages, it
// looks at each page.
func TestAMalformedPageInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, l := range lists {
		t.Run(l.method, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			s := l.promising(l.of("2", "a"))
			s.answers[l.method+" 2"] = fmt.Sprintf(`{%q:null,"nextCursor":"3"}`, l.member)
			s.answers[l.method+" 3"] = l.of("", "c")
			got, err := l.whole(t.Context(), s.connect(t, legacy, middleware.Default(log.Logger(), nil)))
			assert.Equal(t, []string{"WARN"}, log.Levels(events.MalformedList))
			if l.method != "tools/list" {
				require.NoError(t, err)
				assert.Equal(t, names{"a", "c"}, got)
				return
			}
			require.ErrorIs(t, err, middleware.ErrMalformedList)
			assert.Equal(t, names{"a"}, received(t, err), "what was received is kept")
		})
	}
}
