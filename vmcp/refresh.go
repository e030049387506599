package vmcp

import (
	"context"
	"time"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// refresh asks for the lists again, and says whether they changed.
func (m *member) refresh(ctx context.Context) (bool, error) {
	select { // one after the other: the last to end must be the last to have begun
	case m.refreshing <- struct{}{}:
		defer func() { <-m.refreshing }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // before anything was asked: that says nothing about the backend
		return false, m.blame(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout())
	defer cancel()
	ctx, done := m.bound(ctx)
	defer done()
	var found inventory
	c, err := m.do(ctx, func(ctx context.Context, client *mcpclient.Client) (err error) {
		found, err = m.listAgain(ctx, client)
		return err
	})
	if c == nil {
		return false, m.blame(ctx, err)
	}
	changed := m.refreshed(ctx, c, found, err)
	m.warnOfPatterns()
	if err != nil {
		return false, m.blame(ctx, err)
	}
	if changed {
		m.changed()
	}
	return changed, nil
}

func (m *member) listAgain(ctx context.Context, client *mcpclient.Client) (inventory, error) {
	m.mu.Lock()
	m.lists.begin()
	server := m.server
	m.mu.Unlock()
	return m.listAll(ctx, client, server.Capabilities)
}

// refreshed takes over what a refresh has brought, or keeps what there was.
func (m *member) refreshed(ctx context.Context, c *connection, found inventory, err error) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != c || err != nil && failure.Of(ctx.Err()).Kind == failure.Cancelled {
		return false // who asked gave up, or another connection has other lists: that says nothing
	}
	defer m.poke()
	if (m.stale == nil) != (err == nil) {
		m.since = time.Now()
	}
	if err == nil {
		return m.take(found, time.Now(), m.builder.staleFor())
	}
	m.lists.fail(m.hide(err), time.Now())
	return false
}

// mayHaveChanged has the lists asked for again, after a while. It never blocks
// for long.
func (m *member) mayHaveChanged() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.due(time.Now().Add(m.settling.begin())) {
		m.poke()
	}
}

// refreshNow asks for the lists again. A change that is notified meanwhile leads
// to another refresh.
func (m *member) refreshNow() {
	m.mu.Lock()
	m.refreshAt = time.Time{}
	c := m.conn
	m.mu.Unlock()
	if c == nil {
		return
	}
	changed, _ := m.refresh(c.life) // the report and the log have the error
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settling.end(changed)
}

// expire takes lists that are too old from what the session offers, unless new
// ones came just now.
func (m *member) expire() {
	m.mu.Lock()
	expired := m.lists.expire(time.Now(), m.builder.staleFor())
	m.mu.Unlock()
	if expired {
		m.changed()
	}
}
