package vmcp

// entry is something that a session offers, by its kind and its name there.
type entry struct{ kind, name string }

// remember keeps whose the names were that left the lists with a backend that
// is not there: who asks for one shall hear of that backend.
func (c *catalogue) remember(before *catalogue, listings []listing) {
	c.former = map[entry]string{}
	if before == nil {
		return
	}
	away := map[string]bool{}
	for _, l := range listings {
		away[l.id] = !l.serves
	}
	lose := func(e entry, owner string) {
		if away[owner] && !c.has(e) {
			c.former[e] = owner
		}
	}
	for name, to := range before.toolOwners {
		lose(entry{"tool", name}, to.id)
	}
	for name, to := range before.promptOwners {
		lose(entry{"prompt", name}, to.id)
	}
	for uri, owner := range before.resourceOwners {
		lose(entry{"resource", uri}, owner)
	}
	for e, owner := range before.former {
		lose(e, owner)
	}
}

func (c *catalogue) has(e entry) bool {
	var found bool
	switch e.kind {
	case "tool":
		_, found = c.toolOwners[e.name]
	case "prompt":
		_, found = c.promptOwners[e.name]
	default:
		_, found = c.resourceOwners[e.name]
	}
	return found
}
