package vmcp

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
)

// attempt tries to connect, when it is its turn.
func (s *Session) attempt(m *member) {
	ctx := m.attempting()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return
	}
	began := time.Now()
	c, offered, err := s.open(ctx, m)
	if m.life.Err() == nil {
		s.shared.instruments.SetUp(ctx, m.ID, time.Since(began), err)
	}
	switch {
	case err == nil:
		if m.opened(c, offered) && m.admitted.Load() { // else whoever admits it does so
			s.publish()
		}
	case m.life.Err() == nil: // else the end of the session is to blame
		m.failed(err)
	}
	m.settle()
}

// open connects and asks for the advertised lists, which proves the connection.
func (s *Session) open(ctx context.Context, m *member) (*connection, offer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.builder.timeoutOf(m.Backend))
	defer cancel()
	var found discovery
	prove := func(ctx context.Context, opening *mcpclient.Client) (err error) {
		found, err = m.discover(ctx, opening)
		return err
	}
	opened, err := s.builder.connector(m).OpenProving(ctx, prove, s.builder.chain(m.Backend, m.note, middleware.WithLevel(m.level)))
	if err != nil {
		return nil, offer{}, err
	}
	return newConnection(m.life, opened, found, m.Breaker), found.offer, nil
}

// opened takes a new connection into use, and says whether its lists differ
// from those before.
func (m *member) opened(c *connection, offered offer) (changed bool) {
	defer m.warnOfPatterns() // when the mutex is free
	m.mu.Lock()
	defer m.mu.Unlock()
	c.renewal = m.phase == renewing
	if !c.renewal {
		m.since = time.Now()
	}
	m.conn, m.err, m.nextTry, m.attempts = c, nil, time.Time{}, 0
	m.enter(up)
	return m.take(offered)
}

// failed takes down why an attempt was in vain, and when the next one is.
func (m *member) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts++
	m.fall(err)
}

// connector reaches the backend with what a session needs.
func (b *Builder) connector(m *member) *connect.Connector {
	return m.Connector.With(connect.WithListening(), connect.WithClientOptions(b.Asks.options(m)...),
		connect.OnFallback(m.fellBack), connect.OnReopened(m.mayHaveChanged))
}

// fellBack counts a fallback to an older protocol.
func (m *member) fellBack(ctx context.Context, version string) {
	m.shared.instruments.Fallback(ctx, m.ID, version)
}

// level is that of a record of a call: of a backend that is known to be away the
// log need not say so with each attempt.
func (m *member) level(outcome instrument.Outcome) slog.Level {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil && m.attempts > 0 {
		return slog.LevelDebug
	}
	return middleware.DefaultLevel(outcome)
}
