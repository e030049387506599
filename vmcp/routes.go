package vmcp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// routes say what a session offers and which backend each part comes from.
type routes struct {
	tools     []mcp.Tool
	prompts   []mcp.Prompt
	resources []mcp.Resource
	templates []mcp.ResourceTemplate

	toolOwners     map[string]route
	promptOwners   map[string]route
	resourceOwners map[string]*member
	templateOwners []templateOwner

	leftOut map[*member][]LeftOut
	former  map[named]*member // what left the lists with its backend
}

// kind is something that is called by a name: how it is listed and what each is
// called before names are made different.
type kind[T any] struct {
	what   string
	listed func(*member) []T
	name   func(*T) *string
	called func(*member, string) string // without a prefix
}

// route is a backend and its own name for something.
type route struct {
	*member
	name string
}

type templateOwner struct {
	*member
	template *mcp.URITemplate
}

func newRoutes(members []*member, names Names) *routes {
	r := &routes{resourceOwners: map[string]*member{}, leftOut: map[*member][]LeftOut{}}
	r.tools, r.toolOwners = expose(r, members, names, kind[mcp.Tool]{
		what: "tool", listed: r.usableTools,
		name:   func(t *mcp.Tool) *string { return &t.Name },
		called: func(m *member, name string) string { return m.Tools.named(name) },
	})
	r.prompts, r.promptOwners = expose(r, members, names, kind[mcp.Prompt]{
		what: "prompt", listed: func(m *member) []mcp.Prompt { return m.offers().Prompts },
		name:   func(p *mcp.Prompt) *string { return &p.Name },
		called: func(_ *member, name string) string { return name },
	})
	for _, m := range members {
		r.addResources(m)
		r.addTemplates(m)
	}
	return r
}

func (r *routes) leaveOut(m *member, kind, name, reason string) {
	r.leftOut[m] = append(r.leftOut[m], LeftOut{Kind: kind, Name: name, Reason: reason})
}

// usableTools leaves out the tools that nobody selected, and those that a client must not see: whose
// x-mcp-header annotations break the rules of protocol 2026-07-28. mcp-go's
// server takes one of them for a programmer's error.
func (r *routes) usableTools(m *member) []mcp.Tool {
	var usable []mcp.Tool
	for _, tool := range m.offers().Tools {
		if !m.Tools.has(tool.Name) {
			continue // as its operator wants it
		}
		if err := validHeaders(&tool); err != nil {
			r.leaveOut(m, "tool", tool.Name, err.Error())
			continue
		}
		usable = append(usable, tool)
	}
	return usable
}

// expose gives what the backends list under names the names of the session,
// and says whom each belongs to. A name that one backend lists twice counts
// once.
func expose[T any](r *routes, members []*member, names Names, k kind[T]) ([]T, map[string]route) {
	all := gather(r, members, k)
	plain := func(o owned) string {
		m := all.owners[o].member
		if names == Prefixed {
			return prefixed(owned{m.prefix(), k.called(m, o.name)})
		}
		return k.called(m, o.name)
	}
	chosen, lost := names.choose(all.things, plain)
	for _, thing := range all.things {
		if other, isLost := lost[thing]; isLost {
			r.leaveOut(all.owners[thing].member, k.what, thing.name, sameName(k.what, thing, other))
		}
	}
	return all.under(r, k, exposedNames(chosen, plain), chosen)
}

// gathered is all of one kind.
type gathered[T any] struct {
	things []owned
	items  map[owned]T
	owners map[owned]route
}

func gather[T any](r *routes, members []*member, k kind[T]) gathered[T] {
	all := gathered[T]{items: map[owned]T{}, owners: map[owned]route{}}
	for _, m := range members {
		for _, item := range k.listed(m) {
			thing := owned{m.ID, *k.name(&item)}
			if _, again := all.items[thing]; again {
				r.leaveOut(m, k.what, thing.name, m.already(m))
				continue
			}
			all.things = append(all.things, thing)
			all.items[thing], all.owners[thing] = item, route{m, thing.name}
		}
	}
	return all
}

// under gives those that were chosen their names.
func (g gathered[T]) under(r *routes, k kind[T], names map[owned]string, chosen []owned) ([]T, map[string]route) {
	routes := make(map[string]route, len(chosen))
	exposed := make([]T, 0, len(chosen))
	for _, thing := range chosen {
		public, ok := names[thing]
		if !ok {
			r.leaveOut(g.owners[thing].member, k.what, thing.name, "no name for it is free")
			continue
		}
		item := g.items[thing]
		*k.name(&item) = public
		exposed = append(exposed, item)
		routes[public] = g.owners[thing]
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

func (r *routes) addResources(m *member) {
	for _, resource := range m.offers().Resources {
		if owner, taken := r.resourceOwners[resource.URI]; taken {
			r.leaveOut(m, "resource", resource.URI, owner.already(m))
			continue
		}
		r.resourceOwners[resource.URI] = m
		r.resources = append(r.resources, resource)
	}
}

func (r *routes) addTemplates(m *member) {
	for _, template := range m.offers().Templates {
		if template.URITemplate == nil || template.URITemplate.Template == nil {
			r.leaveOut(m, "resource template", template.Name, "it has no URI template")
			continue
		}
		raw := template.URITemplate.Raw()
		if i := slices.IndexFunc(r.templateOwners, func(o templateOwner) bool { return o.template.Raw() == raw }); i >= 0 {
			r.leaveOut(m, "resource template", raw, r.templateOwners[i].already(m))
			continue
		}
		r.templateOwners = append(r.templateOwners, templateOwner{m, template.URITemplate})
		r.templates = append(r.templates, template)
	}
}

// already is why what m serves is left out of what another, or m itself, lists.
func (m *member) already(other *member) string {
	if m == other {
		return "the server lists it twice"
	}
	return "backend " + m.ID + " serves it already"
}

// ownerOf returns the backend that serves a URI, or a URI template: the one
// that lists it, else one with a template that it matches.
func (r *routes) ownerOf(uri string) (*member, bool) {
	if owner, ok := r.resourceOwners[uri]; ok {
		return owner, true
	}
	for _, owner := range r.templateOwners {
		if owner.template.Raw() == uri { // what a completion is about
			return owner.member, true
		}
	}
	for _, owner := range r.templateOwners {
		if owner.template.Regexp().MatchString(uri) {
			return owner.member, true
		}
	}
	return nil, false
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
