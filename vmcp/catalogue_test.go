package vmcp

import (
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func resource(uri string) mcp.Resource { return mcp.Resource{URI: uri, Name: uri} }

func template(raw string) mcp.ResourceTemplate { return mcp.NewResourceTemplate(raw, raw) }

func TestWhoseEveryPartOfACatalogueIs(t *testing.T) {
	t.Parallel()
	a, b := listingOf("a", mcp.Tool{Name: "run"}), listingOf("b", mcp.Tool{Name: "run"})
	a.Prompts, b.Prompts = []mcp.Prompt{{Name: "greet"}}, []mcp.Prompt{{Name: "greet"}}
	a.Resources, b.Resources = []mcp.Resource{resource("res://one")}, []mcp.Resource{resource("res://one"), resource("res://two")}
	a.Templates, b.Templates = []mcp.ResourceTemplate{template("res://{x}")}, []mcp.ResourceTemplate{template("res://{x}"), template("doc://{y}")}
	c := newCatalogue([]listing{a, b}, Prefixed, nil)

	assert.Equal(t, map[string]route{"a_run": {"a", "run"}, "b_run": {"b", "run"}}, c.toolOwners)
	assert.Equal(t, map[string]route{"a_greet": {"a", "greet"}, "b_greet": {"b", "greet"}}, c.promptOwners)
	for uri, want := range map[string]string{
		"res://one": "a", "res://two": "b", "res://{x}": "a", "res://anything": "a", "doc://{y}": "b", "doc://1": "b", "other://1": "",
	} {
		id, ok := c.ownerOf(uri)
		assert.Equal(t, want, id, uri)
		assert.Equal(t, want != "", ok, uri)
	}
	assert.Equal(t, map[string][]LeftOut{"b": {
		{"resource", "res://one", "backend a serves it already"},
		{"resource template", "res://{x}", "backend a serves it already"},
	}}, c.leftOut)
}

func TestWhatAServerListsTwiceIsLeftOutWithAReason(t *testing.T) {
	t.Parallel()
	a := listingOf("a", mcp.Tool{Name: "run"}, mcp.Tool{Name: "run"})
	a.Prompts, a.Resources = []mcp.Prompt{{Name: "p"}, {Name: "p"}}, []mcp.Resource{resource("res://one"), resource("res://one")}
	c := newCatalogue([]listing{a}, Prefixed, nil)
	const twice = "the server lists it twice"
	assert.Equal(t, []LeftOut{{"tool", "run", twice}, {"prompt", "p", twice}, {"resource", "res://one", twice}}, c.leftOut["a"])
}

func TestASelectionTakesToolsOutAndCountsNone(t *testing.T) {
	t.Parallel()
	a := listingOf("a", mcp.Tool{Name: "list_x"}, mcp.Tool{Name: "list_y"}, mcp.Tool{Name: "drop"})
	a.selection = ToolSelection{Include: []string{"list_*"}, Exclude: []string{"*_y"}, Rename: map[string]string{"list_x": "all"}}
	c := newCatalogue([]listing{a}, Prefixed, nil)
	assert.Equal(t, map[string]route{"a_all": {"a", "list_x"}}, c.toolOwners)
	assert.Empty(t, c.leftOut)
}

func TestWhatLeftWithItsBackendIsRemembered(t *testing.T) {
	t.Parallel()
	a := listingOf("a", mcp.Tool{Name: "run"})
	a.Resources = []mcp.Resource{resource("res://one")}
	before := newCatalogue([]listing{a}, Prefixed, nil)
	away := listing{id: "a", prefix: "a"}
	gone := newCatalogue([]listing{away}, Prefixed, before)
	want := map[entry]string{{"tool", "a_run"}: "a", {"resource", "res://one"}: "a"}
	assert.Equal(t, want, gone.former)
	assert.Equal(t, want, newCatalogue([]listing{away}, Prefixed, gone).former, "for as long as it is away")
	assert.Empty(t, newCatalogue([]listing{listingOf("a")}, Prefixed, gone).former, "one that is there and does not list it has it no more")
	assert.Empty(t, newCatalogue([]listing{listingOf("b")}, Prefixed, gone).former, "nor has one that left")
}

func TestAChangeIsSeenFromBothSidesAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := func(what string) *catalogue {
			var listings []listing
			for i := range rapid.IntRange(0, 3).Draw(t, what) {
				l := listingOf(fmt.Sprint("b", i))
				for range rapid.IntRange(0, 2).Draw(t, "tools") {
					l.Tools = append(l.Tools, mcp.Tool{Name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tool")})
				}
				for range rapid.IntRange(0, 1).Draw(t, "resources") {
					l.Resources = append(l.Resources, resource(rapid.SampledFrom([]string{"r://1", "r://2"}).Draw(t, "uri")))
				}
				listings = append(listings, l)
			}
			return newCatalogue(listings, rapid.SampledFrom([]Names{Prefixed, Priority, Plain}).Draw(t, "names"), nil)
		}
		one, other := some("one"), some("other")
		assert.Equal(t, one.changeTo(other), other.changeTo(one))
		assert.False(t, one.changeTo(one).any())
		assert.Equal(t, len(one.tools) != len(other.tools) || len(one.tools) > 0 && !sameJSON(one.tools, other.tools), one.changeTo(other).Tools)
	})
}

func TestTheLongestPrefixIsBlamedForAMissingName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a_b_run": "a_b", "a_run": "a", "a_b": "a", "c_run": "", "a": "", "ab_run": ""} {
		assert.Equal(t, want, prefixing([]string{"a", "a_b", "a_bc"}, name), name)
		assert.Equal(t, want, prefixing([]string{"a_bc", "a_b", "a"}, name), name)
	}
}

func BenchmarkCatalogue(b *testing.B) {
	var listings []listing
	for i := range 100 {
		l := listingOf(fmt.Sprintf("backend%02d", i))
		for j := range 20 {
			l.Tools = append(l.Tools, mcp.Tool{Name: fmt.Sprintf("tool_%02d", j), Description: "does something"})
		}
		listings = append(listings, l)
	}
	for b.Loop() {
		newCatalogue(listings, Prefixed, nil)
	}
}
