package vmcp

// Instructions are what a backend says in its handshake about how to use it.
type Instructions struct {
	Backend string // its ID
	Text    string
}

// Instructions returns what the backends that are there say, in their order;
// those that say nothing are left out.
func (s *Session) Instructions() []Instructions {
	var said []Instructions
	for _, m := range s.all() {
		m.mu.Lock()
		if (m.phase == up || m.phase == renewing) && m.server.Instructions != "" {
			said = append(said, Instructions{m.ID, m.server.Instructions})
		}
		m.mu.Unlock()
	}
	return said
}
