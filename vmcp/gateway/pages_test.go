package gateway_test

import (
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("t%04d", i))
	}
	return all
}

func TestALongListComesInPages(t *testing.T) {
	t.Parallel()
	for _, me := range []who{plain, newest} {
		script := only(`{"tools":{},"resources":{}}`, serving("one"))
		script.Answers["tools/list"] = []badserver.Answer{badserver.Tools(names(2_500)...).Once(), badserver.Tools(names(2_501)...)}
		g, servers := before(t, one(script))
		p := plug(t, g, me)
		var all []string
		page := list(t, p.ask("tools/list", nil))
		first := page.Next
		for all = page.tools(); page.Next != ""; all = append(all, page.tools()...) {
			assert.Len(t, page.Tools, 1_000)
			page = list(t, p.ask("tools/list", object{"cursor": page.Next}))
		}
		assert.Len(t, page.Tools, 500)
		require.Len(t, all, 2_500)
		for i, name := range all {
			require.Equal(t, fmt.Sprintf("one_t%04d", i), name)
		}
		assert.Equal(t, all[1_000:2_000], list(t, p.ask("tools/list", object{"cursor": first})).tools(), "a cursor stays good")

		for name, cursor := range map[string]string{"foreign": "next", "forged": "AAAAAAAAAAAAAAAA", "long": first + first} {
			refused := p.ask("tools/list", object{"cursor": cursor}).Error
			require.NotNil(t, refused, name)
			assert.Equal(t, mcp.INVALID_PARAMS, refused.Code, name)
			assert.Contains(t, refused.Message, "cursor", name)
		}
		require.NotNil(t, p.ask("resources/list", object{"cursor": first}).Error, "of another list")

		servers["one"].Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		require.Eventually(t, func() bool {
			refused := p.ask("tools/list", object{"cursor": first}).Error
			return refused != nil && refused.Message == "invalid params: the list has changed since that cursor; begin without one"
		}, 10e9, 10e6)
		assert.Len(t, list(t, p.ask("tools/list", nil)).Tools, 1_000)
	}
}
