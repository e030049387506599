package vmcp

import (
	"log/slog"

	"github.com/mcp-candor/candor/events"
)

// warnOfPatterns tells once of each that the tools, which have just been listed,
// do not match.
func (m *member) warnOfPatterns() {
	m.mu.Lock()
	missed := m.missed(m.Tools)
	m.mu.Unlock()
	for _, pattern := range missed {
		m.log.LogAttrs(m.life, slog.LevelWarn, "no tool of the server has a name that is selected or changed",
			slog.String(events.KeyEvent, events.PatternWithoutMatch), slog.String(events.KeyPattern, pattern),
			slog.String(events.KeyRemedy, "compare it with the names that the server lists, or remove it"))
	}
}
