package vmcp

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
)

// attempt tries to connect, when it is its turn.
func (m *member) attempt() {
	defer m.settle()
	ctx := m.attempting()
	select {
	case m.turns <- struct{}{}:
		defer func() { <-m.turns }()
	case <-ctx.Done():
		return
	}
	began := time.Now()
	c, found, err := m.open(ctx)
	if m.life.Err() == nil {
		m.shared.instruments.SetUp(ctx, m.ID, time.Since(began), err)
	}
	switch {
	case err == nil:
		changed := m.opened(c, found)
		m.warnOfPatterns()
		if changed && m.admitted.Load() { // else who admits it does so
			m.changed()
		}
	case m.life.Err() == nil: // else the end of the session is to blame
		m.attemptFailed(err)
	}
}

// attempting returns the context of an attempt to connect. The first one has
// what the session was built with, such as a trace.
func (m *member) attempting() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == joining {
		return within{m.life, m.origin}
	}
	return m.life
}

// open connects and asks for the advertised lists, which verifies the connection.
func (m *member) open(ctx context.Context) (*connection, inventory, error) {
	ctx, cancel := context.WithTimeout(ctx, m.timeout())
	defer cancel()
	var found discovery
	verify := func(ctx context.Context, opening *mcpclient.Client) (err error) {
		found, err = m.discover(ctx, opening)
		return err
	}
	opened, err := m.connector().OpenVerifying(ctx, verify, m.builder.chain(m.Backend, m.note, middleware.WithLevel(m.level)))
	if err != nil {
		return nil, inventory{}, err
	}
	return newConnection(m.life, opened, found, m.Breaker), found.inventory, nil
}

// connector reaches the backend with what a session needs.
func (m *member) connector() *connect.Connector {
	return m.Connector.With(connect.WithListening(), connect.WithClientOptions(m.builder.Asks.options(m)...),
		connect.OnFallback(m.fellBack), connect.OnReopened(m.mayHaveChanged))
}

// fellBack counts a fallback to an older protocol.
func (m *member) fellBack(ctx context.Context, version string) {
	m.shared.instruments.Fallback(ctx, m.ID, version)
}

// discover asks for the advertised lists, and tells a server that has them what
// is wanted of it. It verifies the connection, so it may run twice, each
// time with another client.
func (m *member) discover(ctx context.Context, client *mcpclient.Client) (discovery, error) {
	client.OnNotification(m.heed) // first: no change may slip through between
	stream := streamOf(m.Connector.Target(), client)
	server, known := client.Server()
	if !known {
		return discovery{}, errors.New("the handshake told nothing about the server")
	}
	m.mu.Lock()
	m.server = server
	m.renew()
	m.mu.Unlock()
	found, err := m.listAll(ctx, client, server.Capabilities)
	if err != nil {
		return discovery{}, err
	}
	wanted := m.shared.desiredOf(m.ID)
	_ = m.apply(ctx, client, server, desired{}, wanted) // what fails is in the log
	return discovery{found, server, stream, wanted}, nil
}

// note is called by the chain, from several goroutines, for each contradiction.
func (m *member) note(_ context.Context, contradiction middleware.Contradiction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists.note(contradiction) {
		m.poke()
	}
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
