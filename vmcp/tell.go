package vmcp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mcp-candor/candor/events"
)

// OnState makes the session call f once for each change of a backend's state,
// or of the reason for it; the calls about one backend come one after the
// other. f must neither close the session nor change its backends.
func (s *Session) OnState(f func(BackendReport)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onState = append(s.onState, f)
}

// tell logs a change of a member's state and tells of that, and of a change of
// the reason. The member's supervisor calls it, and who admits the member.
func (s *Session) tell(m *member) {
	m.telling.Lock()
	defer m.telling.Unlock()
	if m.admitted.Load() && m.life.Err() == nil {
		s.tellNow(m.life, m)
	}
}

// tellNow is for who holds m.telling.
func (s *Session) tellNow(ctx context.Context, m *member) {
	before, now := m.told, s.roster.Load().reportOf(m)
	if before.State == now.State && before.Reason == now.Reason {
		return
	}
	m.told = now
	if before.State != now.State {
		s.builder.log(ctx, before.State, now)
		s.shared.instruments.State(ctx, m.ID, string(before.State), string(now.State))
	}
	s.mu.Lock()
	told := slices.Clone(s.onState)
	s.mu.Unlock()
	for _, f := range told {
		f(now)
	}
}

// forget counts a member out that has left.
func (s *Session) forget(m *member) {
	m.telling.Lock()
	defer m.telling.Unlock()
	s.shared.instruments.State(context.WithoutCancel(m.life), m.ID, string(m.told.State), "")
	m.told.State = ""
}

// log writes the one record of a change of state.
func (b *Builder) log(ctx context.Context, before State, now BackendReport) {
	level, event := slog.LevelInfo, string(now.State)
	switch {
	case now.State == Failed:
		level = slog.LevelError
	case before == Failed:
		event = "recovered"
	}
	attrs := []slog.Attr{
		slog.String(events.KeyEvent, events.Backend(event)),
		slog.String(events.KeyBackendID, now.ID),
		slog.String(events.KeyTarget, now.Target),
		slog.String(events.KeySince, now.Since.UTC().Format(time.RFC3339Nano)),
		slog.Int(events.KeyTools, now.Tools),
	}
	if now.Reason != "" {
		attrs = append(attrs, slog.String(events.KeyReason, now.Reason), slog.String(events.KeyRemedy, now.Remedy))
	}
	b.logger().LogAttrs(ctx, level, "backend "+event, attrs...)
}
