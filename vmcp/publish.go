package vmcp

import "slices"

// OnChange makes the session call f each time that what it offers has changed,
// on the goroutine that noticed; f may be called by several at once, and must
// neither close the session nor have it refreshed.
func (s *Session) OnChange(f func(Change)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onChange = append(s.onChange, f)
}

// publish offers what the backends list now, and tells what has changed.
func (s *Session) publish() { s.publishOf(s.all) }

// publishOf does so for other members.
func (s *Session) publishOf(members func() []*member) {
	s.mu.Lock()
	before := s.roster.Load()
	after := newRoster(members(), s.builder.Names, before.catalogue)
	s.roster.Store(after)
	told := slices.Clone(s.onChange)
	s.mu.Unlock()
	if change := before.changeTo(after.catalogue); change.any() {
		for _, f := range told {
			f(change)
		}
	}
	for _, m := range after.members {
		m.poke() // what is left out of it may be something else
	}
}
