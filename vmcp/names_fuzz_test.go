package vmcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzNames gives two backends each a tool and both of them a third, and wants
// of the names that they are valid, each different, the same in any order, and
// that each leads back to its backend and its own name; that a name which is
// valid as it is stays plain; and that nothing is left out.
func FuzzNames(f *testing.F) {
	for _, seed := range [][5]string{
		{"github", "search_repositories", "filesystem", "read_file", "list_directory"},
		{"github", "create_or_update_file", "git-hub", "create-or-update-file", "repo.get"},
		{"slack", "conversations.history", "notion", "API-post-search", "notion-fetch"},
		{"a", "b_c", "a_b", "c", "search"},
		{"a", "b_c", "a_b", "c", "b_c_662f0bbb"},
		{"a", "read file", "a", "read/file", "read\tfile"},
		{"A", "Search", "a", "search", "SEARCH"},
		{"a", "検索", "b", "поиск", "😀"},
		{"a", "é", "a", "e\u0301", "\xff\xfe"},
		{"a", "", "a_", "_", "\x00"},
		{"a", strings.Repeat("x", 126), "a", strings.Repeat("x", 127), strings.Repeat("x", 300)},
		{"a", strings.Repeat("ü", 300), "b", strings.Repeat("ü", 301), strings.Repeat("ab/", 100)},
		{"a-backend-whose-id-is-as-long-as1", strings.Repeat("y", 96), "b", strings.Repeat("y", 94), "y"},
		{" ", "", "", "_", "0"}, // the empty name asks for no plain name, so it takes none from another
		{"ünïcödé", "tool", strings.Repeat("i", 300), "tool", "tool"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, idA, toolA, idB, toolB, both string) {
		listings := []listing{listingOf(validOf(idA), toolsOf(toolA, both)...)}
		if b := validOf(idB); b == listings[0].id {
			listings[0].Tools = toolsOf(toolA, both, toolB)
		} else {
			listings = append(listings, listingOf(b, toolsOf(toolB, both)...))
		}
		r := newCatalogue(listings, Prefixed, nil)

		exposed := map[owned]string{}
		for _, tool := range r.tools {
			require.Regexp(t, validPattern, tool.Name)
			to, known := r.toolOwners[tool.Name]
			require.True(t, known, "%q leads nowhere", tool.Name)
			thing := owned{to.id, to.name}
			require.NotContains(t, exposed, thing, "exposed twice")
			exposed[thing] = tool.Name
		}
		assert.Len(t, r.toolOwners, len(r.tools), "each name is there once")
		assert.Empty(t, r.leftOut)

		things := thingsOf(listings)
		require.Len(t, exposed, len(things), "nothing is lost")
		for _, thing := range things {
			plain := thing.backend + "_" + thing.name
			alone := !slices.ContainsFunc(things, func(other owned) bool {
				return other != thing && other.name != "" && other.backend+"_"+other.name == plain
			})
			if alone && thing.name != "" && validPattern.MatchString(plain) {
				assert.Equal(t, plain, exposed[thing], "a valid name stays plain")
			} else {
				assert.NotEqual(t, plain, exposed[thing])
			}
			assert.True(t, strings.HasPrefix(exposed[thing], thing.backend+"_"), "%q is without its backend %q", exposed[thing], thing.backend)
		}

		slices.Reverse(listings)
		for _, l := range listings {
			slices.Reverse(l.Tools)
		}
		assert.Equal(t, r.tools, newCatalogue(listings, Prefixed, nil).tools, "in another order")
	})
}

// validOf is the ID itself where a backend may have it, or else one like it.
func validOf(id string) string {
	if validID.MatchString(id) {
		return id
	}
	like := "x" + strings.ReplaceAll(strings.Map(toValid, id), ".", "-")
	return like[:min(len(like), 32)]
}

// toolsOf are tools with these names, each once.
func toolsOf(names ...string) []mcp.Tool {
	slices.Sort(names)
	var tools []mcp.Tool
	for _, name := range slices.Compact(names) {
		tools = append(tools, mcp.Tool{Name: name})
	}
	return tools
}
