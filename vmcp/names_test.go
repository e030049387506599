package vmcp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The names that a release has given are an interface: clients keep them in
// their settings.
func TestNamesThatMustNotChange(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	cases := []struct {
		name   string
		things []owned
		want   []string
	}{
		{"the plain name, where it serves", []owned{{"github", "search"}, {"git-hub_2", "a.b-c_D9"}},
			[]string{"github_search", "git-hub_2_a.b-c_D9"}},
		{"the same name in two backends", []owned{{"a", "search"}, {"b", "search"}},
			[]string{"a_search", "b_search"}},
		{"letters that differ in case only", []owned{{"a", "Search"}, {"a", "search"}},
			[]string{"a_Search", "a_search"}},
		{"characters that are not valid", []owned{{"a", "read file"}, {"a", "read/file"}, {"a", "ü€😀"}, {"a", "\xff"}},
			[]string{"a_read_file_38870f2c", "a_read_file_1dcff6d4", "a_____f37328a7", "a___2d28501a"}},
		{"no name at all", []owned{{"a", ""}},
			[]string{"a__ffe9aaea"}},
		{"128 characters are the longest", []owned{{"a", long[:126]}, {"a", long[:127]}},
			[]string{"a_" + long[:126], "a_" + long[:117] + "_f8f833a7"}},
		{"300 characters", []owned{{"a", long}},
			[]string{"a_" + long[:117] + "_087b1220"}},
		{"two that would be equal both get a hash", []owned{{"a", "b_c"}, {"a_b", "c"}},
			[]string{"a_b_c_662f0bbb", "a_b_c_0c1d18f5"}},
		{"a name that looks like another's with its hash keeps it, and the other's hash is longer",
			[]owned{{"a", "b_c"}, {"a_b", "c"}, {"a", "b_c_662f0bbb"}},
			[]string{"a_b_c_662f0bbbda83090c", "a_b_c_0c1d18f5", "a_b_c_662f0bbb"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			names := exposedNames(c.things, prefixed)
			for i, thing := range c.things {
				assert.Equal(t, c.want[i], names[thing])
			}
		})
	}
}

var validPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// someThings are things of several backends, all different: names that collide,
// that are not valid or too long, and names that look like those that others
// have with their hash.
func someThings(t *rapid.T) []owned {
	id := rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,31}`), rapid.SampledFrom([]string{"a", "A", "a_", "a_b", "a_b_c"}))
	name := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune("abc_-./ü")), 0, 300, -1),
		rapid.SampledFrom([]string{"", "b", "c", "b_c", "_b_c", "\xff", strings.Repeat("x", 300), strings.Repeat("ü", 300)}),
	)
	things := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) owned { return owned{id.Draw(t, "id"), name.Draw(t, "name")} }), 0, 12).Draw(t, "things")
	for _, thing := range slices.Clone(things) {
		if digits := rapid.SampledFrom(hashLengths).Draw(t, "digits of a double"); digits > 0 {
			hashed, _ := thing.exposed(prefixed(thing), digits)
			things = append(things, owned{thing.backend, strings.TrimPrefix(hashed, thing.backend+"_")})
		}
	}
	slices.SortFunc(things, func(a, b owned) int {
		return strings.Compare(a.backend+"\x00"+a.name, b.backend+"\x00"+b.name)
	})
	return slices.Compact(things)
}

func TestExposedNamesAreValidDifferentAndIndependentOfOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		things := someThings(t)
		names := exposedNames(things, prefixed)
		owners := map[string]owned{}
		for thing, name := range names {
			if !validPattern.MatchString(name) {
				t.Fatalf("%+v is exposed as %q, which is not valid", thing, name)
			}
			if !strings.HasPrefix(name, thing.backend+"_") {
				t.Fatalf("%+v is exposed as %q, without its backend", thing, name)
			}
			if other, taken := owners[name]; taken {
				t.Fatalf("%+v and %+v are both exposed as %q", thing, other, name)
			}
			owners[name] = thing
		}
		for _, thing := range things {
			if _, named := names[thing]; named {
				continue
			}
			for _, digits := range hashLengths[1:] {
				wanted, _ := thing.exposed(prefixed(thing), digits)
				if _, taken := owners[wanted]; !taken {
					t.Fatalf("%+v has no name, though %q is free", thing, wanted)
				}
			}
		}
		if shuffled := exposedNames(rapid.Permutation(things).Draw(t, "shuffled"), prefixed); !maps.Equal(names, shuffled) {
			t.Fatalf("in another order the names are\n%v, not\n%v", shuffled, names)
		}
	})
}

func TestRoutesLeadBackAndLoseNothingInSilence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		byID := map[string]*listing{}
		for _, thing := range someThings(t) {
			m := byID[thing.backend]
			if m == nil {
				m = new(listingOf(thing.backend))
				byID[thing.backend] = m
			}
			for range rapid.IntRange(1, 2).Draw(t, "times listed") {
				m.Tools = append(m.Tools, mcp.Tool{Name: thing.name})
				m.Prompts = append(m.Prompts, mcp.Prompt{Name: thing.name})
			}
		}
		ids := slices.Sorted(maps.Keys(byID))
		var listings []listing
		for _, id := range rapid.Permutation(ids).Draw(t, "order") {
			listings = append(listings, *byID[id])
		}
		r := newCatalogue(listings, Prefixed, nil)

		listed, leftOut := 0, 0
		for _, m := range listings {
			listed += len(m.Tools) + len(m.Prompts)
			leftOut += len(r.leftOut[m.id])
		}
		if len(r.tools)+len(r.prompts)+leftOut != listed {
			t.Fatalf("%d of %d are exposed and %d reported as left out", len(r.tools)+len(r.prompts), listed, leftOut)
		}
		if !slices.IsSortedFunc(r.tools, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatal("the tools are not sorted")
		}
		for _, tool := range r.tools {
			to := r.toolOwners[tool.Name]
			if name := exposedNames(thingsOf(listings), prefixed)[owned{to.id, to.name}]; name != tool.Name {
				t.Fatalf("%q leads to %q of %q, whose name is %q", tool.Name, to.name, to.id, name)
			}
		}
		for _, prompt := range r.prompts {
			if to, tool := r.promptOwners[prompt.Name], r.toolOwners[prompt.Name]; to != tool {
				t.Fatalf("the prompt %q leads to %v, the tool to %v", prompt.Name, to, tool)
			}
		}
	})
}

func TestAToolForWhichNoNameIsFreeIsReported(t *testing.T) {
	t.Parallel()
	victim := owned{"a", "read file"}
	m := listingOf("a", mcp.Tool{Name: victim.name})
	for _, digits := range hashLengths[1:] {
		name, _ := victim.exposed(prefixed(victim), digits)
		m.Tools = append(m.Tools, mcp.Tool{Name: strings.TrimPrefix(name, "a_")})
	}
	r := newCatalogue([]listing{m}, Prefixed, nil)
	assert.Len(t, r.tools, 3)
	assert.Equal(t, []LeftOut{{Kind: "tool", Name: "read file", Reason: "no name for it is free"}}, r.leftOut["a"])
}

// listingOf is what a backend has that is there.
func listingOf(id string, tools ...mcp.Tool) listing {
	return listing{offer: offer{Tools: tools}, id: id, prefix: id, serves: true}
}

func thingsOf(listings []listing) []owned {
	var things []owned
	for _, m := range listings {
		for _, tool := range m.Tools {
			if thing := (owned{m.id, tool.Name}); !slices.Contains(things, thing) {
				things = append(things, thing)
			}
		}
	}
	return things
}
