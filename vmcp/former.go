package vmcp

import "slices"

// named is something that a session offers, by its kind and its name there.
type named struct{ kind, name string }

// remember keeps whose the names were that left the lists with a backend that
// is not there: who asks for one shall hear of that backend.
func (r *routes) remember(before *routes, members []*member) {
	r.former = map[named]*member{}
	lose := func(thing named, owner *member) {
		if !r.has(thing) && slices.Contains(members, owner) && !owner.serves() {
			r.former[thing] = owner
		}
	}
	for name, to := range before.toolOwners {
		lose(named{"tool", name}, to.member)
	}
	for name, to := range before.promptOwners {
		lose(named{"prompt", name}, to.member)
	}
	for uri, owner := range before.resourceOwners {
		lose(named{"resource", uri}, owner)
	}
	for thing, owner := range before.former {
		lose(thing, owner)
	}
}

func (r *routes) has(thing named) bool {
	var found bool
	switch thing.kind {
	case "tool":
		_, found = r.toolOwners[thing.name]
	case "prompt":
		_, found = r.promptOwners[thing.name]
	default:
		_, found = r.resourceOwners[thing.name]
	}
	return found
}
