package config

import "github.com/mcp-candor/candor/vmcp"

// idPattern is that of vmcp.ValidID, which the reader asks.
const idPattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$"

func (r *reader) prefix(e entry, s *Server) {
	s.Prefix, _ = r.word(e, func(text string) fault {
		if !vmcp.ValidID(text) {
			return fault{"not a prefix for a tool's name", goodName}
		}
		return fault{}
	})
}
