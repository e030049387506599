package vmcp

import (
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// roster is who belongs to a session at one moment, and what they offer together:
// a name leads to a member of the same moment. It never changes; the session has
// another one when something does.
type roster struct {
	*catalogue
	members []*member // in their order
}

func newRoster(members []*member, names Names, before *catalogue) *roster {
	listings := make([]listing, len(members))
	for i, m := range members {
		listings[i] = m.listing()
	}
	return &roster{newCatalogue(listings, names, before), members}
}

// member returns the one with an ID, nil for none.
func (r *roster) member(id string) *member {
	if i := slices.IndexFunc(r.members, func(m *member) bool { return m.ID == id }); i >= 0 {
		return r.members[i]
	}
	return nil
}

func (r *roster) tool(name string) (owner *member, own string, ok bool) {
	to, ok := r.toolOwners[name]
	return r.member(to.id), to.name, ok
}

func (r *roster) prompt(name string) (owner *member, own string, ok bool) {
	to, ok := r.promptOwners[name]
	return r.member(to.id), to.name, ok
}

// resource returns who serves a URI: who lists it or has a template for it, else
// the only one with resources. One that promised resources and does not have the
// list may still have the resource; it counts only where no other has any.
func (r *roster) resource(uri string) (owner *member, own string, ok bool) {
	if id, ok := r.ownerOf(uri); ok {
		return r.member(id), uri, true
	}
	if keeping := r.those((*member).keepsResources); len(keeping) > 0 {
		return keeping[0], uri, len(keeping) == 1
	}
	if promising := r.those((*member).promisesResources); len(promising) == 1 {
		return promising[0], uri, true
	}
	return nil, "", false
}

func (r *roster) those(which func(*member) bool) []*member {
	return slices.DeleteFunc(slices.Clone(r.members), func(m *member) bool { return !which(m) })
}

// exposed returns the tool of an exposed name, and whether there is one.
func (r *roster) exposed(name string) (mcp.Tool, bool) {
	i, ok := slices.BinarySearchFunc(r.tools, name, func(t mcp.Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return mcp.Tool{}, false
	}
	return r.tools[i], true
}

// reportOf says how a member stands, and what was left out of what it has.
func (r *roster) reportOf(m *member) BackendReport { return m.report(r.leftOut[m.ID]) }

// missing returns an error that says that nobody has what was asked for, or that
// its backend, by what it once listed or by the name, is not there.
func (r *roster) missing(kind, name string, names Names) error {
	if owner := r.member(r.former[entry{kind, name}]); owner != nil && !owner.serves() {
		return named(owner.unavailable(), kind, name)
	}
	away := r.those(func(m *member) bool { return !m.serves() })
	if kind == "resource" || names != Prefixed {
		unknown := &UnknownError{Kind: kind, Name: name}
		for _, m := range away {
			unknown.Failed = append(unknown.Failed, r.reportOf(m))
		}
		return unknown
	}
	prefixes := make([]string, len(r.members))
	for i, m := range r.members {
		prefixes[i] = m.prefix()
	}
	longest := prefixing(prefixes, name)
	if i := slices.IndexFunc(away, func(m *member) bool { return m.prefix() == longest }); i >= 0 {
		return named(away[i].unavailable(), kind, name)
	}
	return &UnknownError{Kind: kind, Name: name}
}
