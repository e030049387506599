package vmcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// ask does one request and names the backend in the error. It is made once more
// where that does no harm: in a new session, if the server lost the old one, and
// when the backend is back, if it was certainly not sent.
func ask[Req, Res any](ctx context.Context, m *member, call method[Req, Res], request Req) (*Res, error) {
	ctx, done := m.bound(ctx)
	defer done()
	t := trial{harmless: m.isHarmless(request)}
	defer t.end()
	for {
		c, err := m.reachAgain(ctx, &t)
		if err != nil {
			return nil, m.blame(ctx, err)
		}
		result, err := over(ctx, m, c, call, request)
		if err == nil {
			return result, nil
		}
		if err = m.again(ctx, c, err, &t); err != nil {
			return nil, m.blame(ctx, err)
		}
	}
}

// over sends a request over a connection that was reached, and leaves it, with a
// panic too.
func over[Req, Res any](ctx context.Context, m *member, c *connection, call method[Req, Res], request Req) (*Res, error) {
	defer m.leave(c)
	return send(ctx, c, call, request)
}

// reachAgain returns the connection. A request that waits to be sent waits for the
// backend, should that be gone meanwhile.
func (m *member) reachAgain(ctx context.Context, t *trial) (*connection, error) {
	for {
		c, err := m.reach(ctx)
		if err == nil || t.tryUntil == nil || !m.waitFor(t.tryUntil) {
			return c, err
		}
	}
}

// trial is what a request has gone through so far.
type trial struct {
	harmless bool            // it may be done twice
	renewed  bool            // it was made again in a new session
	tryUntil context.Context // ends when it is not made again any more; nil before it had to wait
	giveUp   context.CancelFunc
	pauses   delays
}

func (t *trial) end() {
	if t.giveUp != nil {
		t.giveUp()
	}
}

// again returns nil if a request that failed is to be made once more, when the
// time for that has come, else why it failed.
func (m *member) again(ctx context.Context, c *connection, err error, t *trial) error {
	lost := m.judge(ctx, c, err)
	switch read := failure.Of(err); {
	case lost && !t.harmless:
		return &NotRepeatedError{Backend: m.ID, Err: m.hide(err)}
	case lost && !t.renewed:
		t.renewed = true
		return nil
	case !lost && read.NotSent() && read.Transient() && m.waitToSend(ctx, c, err, t):
		return nil
	case !lost && read.NotSent() && m.life.Err() != nil:
		return m.unavailable() // somebody else may have what it is about by now
	default:
		return described(err)
	}
}

// described says of a failure what it does not say itself.
func described(err error) error {
	switch read := failure.Of(err); {
	case err == nil:
		return nil
	case read.NotSent() && read.Transient():
		return fmt.Errorf("nothing was sent: %w", err)
	case read.Consequence() == failure.Fail:
		return fmt.Errorf("it was lost during the request: %w", err)
	default:
		return err
	}
}

// waitToSend waits until a request that was not sent can be made again: until the
// backend is back, or for a while where it is there. It gives up with ctx, and after
// the time that a connection may take.
func (m *member) waitToSend(ctx context.Context, c *connection, err error, t *trial) bool {
	if t.tryUntil == nil {
		t.tryUntil, t.giveUp = context.WithTimeout(ctx, m.timeout())
		t.pauses = newDelays(m.Retry)
	}
	if m.current() == c {
		return sleep(t.tryUntil, t.pauses.after(err))
	}
	return m.waitFor(t.tryUntil)
}

// waitFor waits until the backend is back, and says whether it is. It gives up with
// ctx, and at once where the backend is not tried again before.
func (m *member) waitFor(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	for {
		m.mu.Lock()
		at, moved, next := m.phase, m.moved, m.nextTry
		m.mu.Unlock()
		switch {
		case m.life.Err() != nil:
			return false
		case at == up:
			return true
		case bounded && at == down && next.After(end):
			return false
		}
		select {
		case <-moved:
		case <-m.life.Done():
		case <-ctx.Done():
			return false
		}
	}
}

// sleep waits, and says whether the time has passed before ctx ended. It does not
// wait where that cannot be.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < d {
		return false
	}
	return lifetime.Sleep(ctx, d)
}

// do does what may be several requests, once, and returns the connection too, if
// there was one.
func (m *member) do(ctx context.Context, request func(context.Context, *mcpclient.Client) error) (*connection, error) {
	c, err := m.reach(ctx)
	if err != nil {
		return nil, err
	}
	err = func() error {
		defer m.leave(c)
		return c.do(ctx, request)
	}()
	m.judge(ctx, c, err)
	return c, described(err)
}

// reach returns the connection, which is to be left again. Where a new session is
// being made it waits for that, as long as ctx allows.
func (m *member) reach(ctx context.Context) (*connection, error) {
	for {
		if m.session.Err() != nil {
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
			return nil, m.unavailable()
		}
		select {
		case <-moved:
		case <-m.life.Done():
		case <-ctx.Done():
			return nil, notReached{ctx.Err()}
		}
	}
}

// notReached is that of a request that waited for a new session in vain.
type notReached struct{ err error }

func (n notReached) Error() string {
	return fmt.Sprintf("nothing was sent, waiting for a new session: %v", n.err)
}

func (n notReached) Unwrap() error { return n.err }

// NotSent says so: package failure asks.
func (notReached) NotSent() bool { return true }

func (m *member) leave(c *connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.release()
}

// bound gives a request a deadline, if it has none, and ends it with the session:
// not every transport does so when it is closed.
func (m *member) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	expire := func() {}
	after := m.builder.callTimeoutOf(m.Backend)
	if _, bounded := ctx.Deadline(); !bounded && !m.calls.limit(ctx, after, callTimeout(after)) {
		ctx, expire = context.WithTimeoutCause(ctx, after, callTimeout(after))
	}
	ctx, cancel := lifetime.Either(ctx, m.session)
	return ctx, func() { cancel(); expire() }
}

// callTimeout is the cause of the end of a call that had no deadline of its own.
type callTimeout time.Duration

func (t callTimeout) Error() string { return "no answer within " + time.Duration(t).String() }

// Unwrap says what it is to those, such as package http, that hand on a cause.
func (t callTimeout) Unwrap() error { return context.DeadlineExceeded }

// overdue says so if it was the session's time-out that ended a call, which its
// caller knows nothing of.
func overdue(ctx context.Context, err error) error {
	if silent, ours := errors.AsType[unanswered](context.Cause(ctx)); ours && failure.Of(err).Kind == failure.TimedOut {
		return fmt.Errorf("%w: %w", silent, err)
	}
	if out, ours := errors.AsType[callTimeout](context.Cause(ctx)); ours && failure.Of(err).Kind == failure.TimedOut {
		return fmt.Errorf("%w, which is how long a call without a deadline may take: %w", out, err)
	}
	return err
}

// blame names the backend in an error, with its secrets masked, and the session
// if that ended the request.
func (m *member) blame(ctx context.Context, err error) error {
	err = overdue(ctx, err)
	_, unavailable := errors.AsType[*UnavailableError](err)
	_, interrupted := errors.AsType[*NotRepeatedError](err)
	switch {
	case errors.Is(err, ErrClosed):
		return err
	case m.session.Err() != nil:
		return fmt.Errorf("%w: backend %q: %w", ErrClosed, m.ID, m.hide(err))
	case unavailable || interrupted: // they name it
		return err
	default:
		return fmt.Errorf("backend %q: %w", m.ID, m.refused(err))
	}
}
