package vmcp

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A Change says which kinds of what a session offers are not what they were.
type Change struct {
	Tools, Prompts, Resources, ResourceTemplates bool
}

func (c Change) any() bool { return c != Change{} }

// OnChange makes the session call f each time that what it offers has changed,
// on the goroutine that noticed; f may be called by several at once, and must
// neither close the session nor have it refreshed.
func (s *Session) OnChange(f func(Change)) {
	s.routing.Lock()
	defer s.routing.Unlock()
	s.onChange = append(s.onChange, f)
}

// publish makes the routes anew, from what the backends list now, and tells
// what has changed.
func (s *Session) publish() {
	s.routing.Lock()
	before, after := s.routes.Load(), newRoutes(s.members, s.builder.Names)
	after.remember(before, s.members)
	s.routes.Store(after)
	told, members := slices.Clone(s.onChange), s.members
	s.routing.Unlock()
	if change := before.changeTo(after); change.any() {
		for _, f := range told {
			f(change)
		}
	}
	for _, m := range members {
		m.poke() // what is left out of it may be something else
	}
}

// changeTo compares what a caller would see.
func (r *routes) changeTo(other *routes) Change {
	return Change{
		Tools:             !sameJSON(r.tools, other.tools),
		Prompts:           !sameJSON(r.prompts, other.prompts),
		Resources:         !sameJSON(r.resources, other.resources),
		ResourceTemplates: !sameJSON(r.templates, other.templates),
	}
}

// sameJSON compares two lists as they are written.
func sameJSON[T any](one, two []T) bool {
	if len(one) != len(two) || len(one) == 0 {
		return len(one) == len(two)
	}
	before, errBefore := json.Marshal(one)
	after, errAfter := json.Marshal(two)
	return errBefore == nil && errAfter == nil && bytes.Equal(before, after)
}
