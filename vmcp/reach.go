package vmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-candor/candor/mcpclient"
	"github.com/sony/gobreaker/v2"
)

// over sends a request over the connection of a member and draws the
// consequences for it. It returns the connection too, if there was one.
func (s *Session) over(ctx context.Context, m *member, request func(context.Context, *mcpclient.Client) error) (*connection, error) {
	c, err := s.reach(ctx, m)
	if err != nil {
		return nil, err
	}
	defer m.leave(c)
	err = c.do(ctx, request)
	if errors.Is(err, gobreaker.ErrOpenState) { // just now, by another request
		m.lose(c, fmt.Errorf("%d requests in a row were not answered", m.Breaker.failures()))
		return nil, s.unavailable(m)
	}
	m.judge(c, err)
	if hasEnded(err) {
		return c, fmt.Errorf("it was lost during the request: %w", err)
	}
	return c, err
}

// reach returns the connection of a member, which is to be left again. Where a
// new session is being made it waits for that, as long as ctx allows.
func (s *Session) reach(ctx context.Context, m *member) (*connection, error) {
	for {
		if s.life.Err() != nil {
			return nil, ErrClosed
		}
		m.mu.Lock()
		c, at, moved := m.conn, m.phase, m.moved
		usable := c != nil && !c.over
		if usable {
			c.calls++
		}
		m.mu.Unlock()
		switch {
		case usable:
			return c, nil
		case at != renewing || m.life.Err() != nil:
			return nil, s.unavailable(m)
		}
		select {
		case <-moved:
		case <-m.life.Done():
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a new session: %w", ctx.Err())
		}
	}
}

func (m *member) leave(c *connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.release()
}

// judge gives a connection up if a request shows that it is of no use any more.
func (m *member) judge(c *connection, err error) {
	switch {
	case err == nil:
	case c.forgotten(err) || hasEnded(err):
		m.lose(c, err)
	case c.counts(err) && c.broken():
		m.lose(c, fmt.Errorf("%d requests in a row were not answered, the last: %w", m.Breaker.failures(), err))
	}
}
