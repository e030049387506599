package vmcp

import (
	"cmp"
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

func newRoutes(members []*member) *routes {
	r := &routes{resourceOwners: map[string]*member{}, leftOut: map[*member][]LeftOut{}}
	r.tools, r.toolOwners = expose(r, members, "tool", r.usableTools, func(t *mcp.Tool) *string { return &t.Name })
	r.prompts, r.promptOwners = expose(r, members, "prompt",
		func(m *member) []mcp.Prompt { return m.offers().Prompts }, func(p *mcp.Prompt) *string { return &p.Name })
	for _, m := range members {
		r.addResources(m)
		r.addTemplates(m)
	}
	return r
}

func (r *routes) leaveOut(m *member, kind, name, reason string) {
	r.leftOut[m] = append(r.leftOut[m], LeftOut{Kind: kind, Name: name, Reason: reason})
}

// usableTools leaves out the tools that a client must not see: those whose
// x-mcp-header annotations break the rules of protocol 2026-07-28. mcp-go's
// server takes one of them for a programmer's error.
func (r *routes) usableTools(m *member) []mcp.Tool {
	var usable []mcp.Tool
	for _, tool := range m.offers().Tools {
		if err := mcp.ValidateParamHeaderAnnotations(&tool); err != nil {
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
func expose[T any](r *routes, members []*member, kind string, listed func(*member) []T, name func(*T) *string) ([]T, map[string]route) {
	var things []owned
	var items []T
	var owners []route
	seen := map[owned]bool{}
	for _, m := range members {
		for _, item := range listed(m) {
			thing := owned{m.ID, *name(&item)}
			if seen[thing] {
				r.leaveOut(m, kind, thing.name, m.already(m))
				continue
			}
			seen[thing] = true
			things, items, owners = append(things, thing), append(items, item), append(owners, route{m, thing.name})
		}
	}
	names := exposedNames(things)
	routes := make(map[string]route, len(things))
	exposed := make([]T, 0, len(things))
	for i, thing := range things {
		public, ok := names[thing]
		if !ok {
			r.leaveOut(owners[i].member, kind, thing.name, "no name for it is free")
			continue
		}
		*name(&items[i]) = public
		exposed = append(exposed, items[i])
		routes[public] = owners[i]
	}
	slices.SortFunc(exposed, func(a, b T) int { return cmp.Compare(*name(&a), *name(&b)) })
	return exposed, routes
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
