package vmcp

import (
	"context"
	"time"
)

// probe asks whether the backend is alive.
func (m *member) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout())
	defer cancel()
	ctx, done := m.bound(ctx)
	defer done()
	if _, err := m.do(ctx, alive); err != nil {
		return m.blame(ctx, err)
	}
	return nil
}

// probeNow probes a backend that is still silent.
func (m *member) probeNow() {
	m.mu.Lock()
	c, now := m.conn, time.Now()
	silent := c != nil && !m.probeAt(m.builder.ProbeEvery).After(now)
	if silent {
		m.probed = now
	}
	m.mu.Unlock()
	if silent {
		_ = m.probe(c.life) // the breaker counts it
	}
}

// probeAt is when a backend of which nothing was heard is probed; zero if never.
// The mutex is held.
func (m *member) probeAt(every time.Duration) time.Time {
	if every <= 0 || m.conn == nil {
		return time.Time{}
	}
	last := time.Unix(0, m.conn.heard.Load())
	if m.probed.After(last) {
		last = m.probed
	}
	return last.Add(every)
}
