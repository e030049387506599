package vmcp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// A catalogue says what a session offers, which backend each part comes from and
// what is left out of it. It is made of what the backends list, and of nothing
// else: the same lists make the same catalogue.
//
//	a listing of each backend + Names + the catalogue before
//	        |
//	        v
//	catalogue: names and URIs -> backend and its own name; what is left out, and why;
//	           whose the names were that have left
//
// It never changes once it is made. A backend in it is an ID.
type catalogue struct {
	tools     []mcp.Tool
	prompts   []mcp.Prompt
	resources []mcp.Resource
	templates []mcp.ResourceTemplate

	toolOwners     map[string]route
	promptOwners   map[string]route
	resourceOwners map[string]string // ID of a backend, by URI
	templateOwners []templateOwner

	leftOut map[string][]LeftOut // by the ID of a backend
	former  map[entry]string     // ID of the backend with which something left the lists
}

// A listing is what one backend has for the catalogue.
type listing struct {
	offer
	id, prefix string
	selection  ToolSelection
	serves     bool // calls about it are answered, or soon will be
}

// kind is something that is called by a name: how it is listed and what each is
// called before names are made different.
type kind[T any] struct {
	what   string
	listed func(listing) []T
	name   func(*T) *string
	called func(listing, string) string // without a prefix
}

// route is a backend and its own name for something.
type route struct{ id, name string }

type templateOwner struct {
	id       string
	template *mcp.URITemplate
}

// newCatalogue makes one of what the backends list, in their order.
func newCatalogue(listings []listing, names Names, before *catalogue) *catalogue {
	c := &catalogue{resourceOwners: map[string]string{}, leftOut: map[string][]LeftOut{}}
	c.tools, c.toolOwners = expose(c, listings, names, kind[mcp.Tool]{
		what: "tool", listed: c.usableTools,
		name:   func(t *mcp.Tool) *string { return &t.Name },
		called: func(l listing, name string) string { return l.selection.named(name) },
	})
	c.prompts, c.promptOwners = expose(c, listings, names, kind[mcp.Prompt]{
		what: "prompt", listed: func(l listing) []mcp.Prompt { return l.Prompts },
		name:   func(p *mcp.Prompt) *string { return &p.Name },
		called: func(_ listing, name string) string { return name },
	})
	for _, l := range listings {
		c.addResources(l)
		c.addTemplates(l)
	}
	c.remember(before, listings)
	return c
}

func (c *catalogue) leaveOut(id, kind, name, reason string) {
	c.leftOut[id] = append(c.leftOut[id], LeftOut{Kind: kind, Name: name, Reason: reason})
}

// usableTools leaves out the tools that nobody selected, and those that a client
// must not see: whose x-mcp-header annotations break the rules of protocol
// 2026-07-28. mcp-go's server takes one of them for a programmer's error.
func (c *catalogue) usableTools(l listing) []mcp.Tool {
	var usable []mcp.Tool
	for _, tool := range l.Tools {
		if !l.selection.has(tool.Name) {
			continue // as its operator wants it
		}
		if err := validHeaders(&tool); err != nil {
			c.leaveOut(l.id, "tool", tool.Name, err.Error())
			continue
		}
		usable = append(usable, tool)
	}
	return usable
}

// expose gives what the backends list under names the names of the session,
// and says whom each belongs to. A name that one backend lists twice counts
// once.
func expose[T any](c *catalogue, listings []listing, names Names, k kind[T]) ([]T, map[string]route) {
	all := gather(c, listings, k)
	plain := func(o owned) string {
		l := all.owners[o]
		if names == Prefixed {
			return prefixed(owned{l.prefix, k.called(l, o.name)})
		}
		return k.called(l, o.name)
	}
	chosen, lost := names.choose(all.things, plain)
	for _, thing := range all.things {
		if other, isLost := lost[thing]; isLost {
			c.leaveOut(thing.backend, k.what, thing.name, sameName(k.what, thing, other))
		}
	}
	return all.under(c, k, exposedNames(chosen, plain), chosen)
}

// gathered is all of one kind.
type gathered[T any] struct {
	things []owned
	items  map[owned]T
	owners map[owned]listing
}

func gather[T any](c *catalogue, listings []listing, k kind[T]) gathered[T] {
	all := gathered[T]{items: map[owned]T{}, owners: map[owned]listing{}}
	for _, l := range listings {
		for _, item := range k.listed(l) {
			thing := owned{l.id, *k.name(&item)}
			if _, again := all.items[thing]; again {
				c.leaveOut(l.id, k.what, thing.name, already(l.id, l.id))
				continue
			}
			all.things = append(all.things, thing)
			all.items[thing], all.owners[thing] = item, l
		}
	}
	return all
}

// under gives those that were chosen their names.
func (g gathered[T]) under(c *catalogue, k kind[T], names map[owned]string, chosen []owned) ([]T, map[string]route) {
	routes := make(map[string]route, len(chosen))
	exposed := make([]T, 0, len(chosen))
	for _, thing := range chosen {
		public, ok := names[thing]
		if !ok {
			c.leaveOut(thing.backend, k.what, thing.name, "no name for it is free")
			continue
		}
		item := g.items[thing]
		*k.name(&item) = public
		exposed = append(exposed, item)
		routes[public] = route{thing.backend, thing.name}
	}
	order := make([]int, len(exposed)) // a tool is large to move
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(*k.name(&exposed[a]), *k.name(&exposed[b])) })
	sorted := make([]T, len(exposed))
	for i, at := range order {
		sorted[i] = exposed[at]
	}
	return sorted, routes
}

// sameName is why something has no name.
func sameName(what string, thing, other owned) string {
	if thing.backend == other.backend {
		return fmt.Sprintf("it would be called the same as the server's %s %q; rename one of them", what, other.name)
	}
	return fmt.Sprintf("the %s %q of backend %s would be called the same; rename one of them", what, other.name, other.backend)
}

func (c *catalogue) addResources(l listing) {
	for _, resource := range l.Resources {
		if owner, taken := c.resourceOwners[resource.URI]; taken {
			c.leaveOut(l.id, "resource", resource.URI, already(owner, l.id))
			continue
		}
		c.resourceOwners[resource.URI] = l.id
		c.resources = append(c.resources, resource)
	}
}

func (c *catalogue) addTemplates(l listing) {
	for _, template := range l.Templates {
		if template.URITemplate == nil || template.URITemplate.Template == nil {
			c.leaveOut(l.id, "resource template", template.Name, "it has no URI template")
			continue
		}
		raw := template.URITemplate.Raw()
		if i := slices.IndexFunc(c.templateOwners, func(o templateOwner) bool { return o.template.Raw() == raw }); i >= 0 {
			c.leaveOut(l.id, "resource template", raw, already(c.templateOwners[i].id, l.id))
			continue
		}
		c.templateOwners = append(c.templateOwners, templateOwner{l.id, template.URITemplate})
		c.templates = append(c.templates, template)
	}
}

// already is why what one backend lists is left out where another, or the same,
// listed it before.
func already(first, second string) string {
	if first == second {
		return "the server lists it twice"
	}
	return "backend " + first + " serves it already"
}

// ownerOf returns the backend that serves a URI, or a URI template: the one
// that lists it, else one with a template that it matches.
func (c *catalogue) ownerOf(uri string) (id string, ok bool) {
	if owner, ok := c.resourceOwners[uri]; ok {
		return owner, true
	}
	for _, owner := range c.templateOwners {
		if owner.template.Raw() == uri { // what a completion is about
			return owner.id, true
		}
	}
	for _, owner := range c.templateOwners {
		if owner.template.Regexp().MatchString(uri) {
			return owner.id, true
		}
	}
	return "", false
}

// validHeaders spares a tool without annotations the check, which writes and
// reads its whole schema.
func validHeaders(tool *mcp.Tool) error {
	if tool.RawInputSchema == nil && !mentions(tool.InputSchema.Properties, "x-mcp-header") {
		return nil
	}
	if tool.RawInputSchema != nil && !bytes.Contains(tool.RawInputSchema, []byte("x-mcp-header")) {
		return nil
	}
	return mcp.ValidateParamHeaderAnnotations(tool)
}

// mentions says whether there is such a key anywhere in a decoded JSON value.
func mentions(value any, key string) bool {
	switch value := value.(type) {
	case map[string]any:
		for k, inner := range value {
			if k == key || mentions(inner, key) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(inner any) bool { return mentions(inner, key) })
	}
	return false
}
