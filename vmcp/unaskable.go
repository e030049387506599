package vmcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// unaskable says how many entries a list has, and which of them nobody can ask
// for.
type unaskable string

func (u unaskable) Error() string { return string(u) }

// A key is what one asks for an entry of a list by.
type key[E any] struct {
	what string // the entry
	name string // of the key
	of   func(E) string
}

var (
	toolKey     = key[mcp.Tool]{"tool", "name", func(t mcp.Tool) string { return t.Name }}
	resourceKey = key[mcp.Resource]{"resource", "URI", func(r mcp.Resource) string { return r.URI }}
	templateKey = key[mcp.ResourceTemplate]{"resource template", "URI template", uriTemplate}
	promptKey   = key[mcp.Prompt]{"prompt", "name", func(p mcp.Prompt) string { return p.Name }}
)

func uriTemplate(t mcp.ResourceTemplate) string {
	if t.URITemplate == nil || t.URITemplate.Template == nil {
		return ""
	}
	return t.URITemplate.Raw()
}

// askable are the entries that have a key.
func (k key[E]) askable(all []E) []E {
	return slices.DeleteFunc(slices.Clone(all), func(e E) bool { return k.of(e) == "" })
}

// check says how many entries there are. The error is unaskable if some have no
// key, or that of another one.
func (k key[E]) check(all []E) (string, error) {
	total := count(len(all), k.what)
	var wrong []string
	if without := len(all) - len(k.askable(all)); without > 0 {
		wrong = append(wrong, fmt.Sprintf("%d without a %s", without, k.name))
	}
	wrong = append(wrong, k.shared(all)...)
	if len(wrong) == 0 {
		return total, nil
	}
	return "", unaskable(total + ", of them " + strings.Join(wrong, ", "))
}

// mostShared is how many keys are named; a list may have as many as it likes.
const mostShared = 5

// shared says which keys several entries have.
func (k key[E]) shared(all []E) []string {
	var order []string
	times := map[string]int{}
	for _, e := range k.askable(all) {
		if times[k.of(e)]++; times[k.of(e)] == 2 {
			order = append(order, k.of(e))
		}
	}
	var said []string
	for _, name := range order[:min(len(order), mostShared)] {
		said = append(said, fmt.Sprintf("%d with the %s %q", times[name], k.name, name))
	}
	if more := len(order) - mostShared; more > 0 {
		said = append(said, fmt.Sprintf("and %d more %ss that several have", more, k.name))
	}
	return said
}
