package gateway

import (
	"time"

	"github.com/mcp-candor/candor/events"
	"golang.org/x/sync/errgroup"
)

// observing is how often the observer gets what changes without being a change
// of state, such as when a failed backend is tried next.
const observing = 5 * time.Second

// sweep ends idle sessions, and tells the observer of the others, until the
// gateway is shut down.
func (g *Gateway) sweep() {
	ticker := time.NewTicker(max(min(g.Idle/4, observing), time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			g.endIdle(now)
			g.observe()
		case <-g.life.Done():
			return
		}
	}
}

func (g *Gateway) endIdle(now time.Time) {
	g.close(g.takeIdle(now))
}

func (g *Gateway) close(idle map[key]*caller) {
	if err := closeAll(idle); err != nil {
		g.Logger.Warn("an idle session did not close properly", events.KeyEvent, events.SessionCloseFailed, events.KeyError, err.Error())
	}
}

// takeIdle leaves one session, the one used last: without any, nobody would look
// after the backends, and what is told of them would be old.
func (g *Gateway) takeIdle(now time.Time) map[key]*caller {
	g.mu.Lock()
	defer g.mu.Unlock()
	idle := map[key]*caller{}
	var last *caller
	for k, c := range g.callers {
		if last == nil || c.used().After(last.used()) {
			last = c
		}
		if c.idle(now, g.Idle) {
			idle[k] = c
		}
	}
	if last == nil {
		return nil
	}
	delete(idle, last.key)
	for k := range idle {
		delete(g.callers, k)
	}
	g.Observer.SetSessions(len(g.callers))
	return idle
}

// makeRoom ends an idle session that was kept although it is idle, if there is
// one. The mutex is held.
func (g *Gateway) makeRoom() bool {
	for k, c := range g.callers {
		if c.idle(time.Now(), g.Idle) {
			delete(g.callers, k)
			g.running.Go(func() { g.close(map[key]*caller{k: c}) })
			return true
		}
	}
	return false
}

func (g *Gateway) observe() {
	for _, c := range g.all() {
		g.Observer.Set(c.session.Report())
	}
}

// all returns the callers whose sessions are built.
func (g *Gateway) all() []*caller {
	g.mu.Lock()
	defer g.mu.Unlock()
	var built []*caller
	for _, c := range g.callers {
		select {
		case <-c.built:
			if c.session != nil {
				built = append(built, c)
			}
		default:
		}
	}
	return built
}

func (g *Gateway) forget(c *caller) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.callers[c.key] == c {
		delete(g.callers, c.key)
		g.Observer.SetSessions(len(g.callers))
	}
}

// closeAll closes sessions side by side.
func closeAll(callers map[key]*caller) error {
	var group errgroup.Group
	for _, c := range callers {
		group.Go(func() error {
			if <-c.built; c.session == nil {
				return nil
			}
			return c.session.Close()
		})
	}
	return group.Wait()
}
