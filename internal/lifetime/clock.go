package lifetime

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Clock is a context whose time-out can stand still: while a person is asked, or
// while a server has asked to be left alone. It is safe for concurrent use.
type Clock struct {
	context.Context // has the parent's values, and the cause of the end
	end             context.CancelCauseFunc
	ended           chan struct{}

	mu     sync.Mutex
	err    error
	cause  error         // of a time-out; nil as long as there is none
	left   time.Duration // when it last stood still
	since  time.Time     // when it went on
	timer  *time.Timer   // nil while it stands still
	halted int           // reasons to stand still
}

// NewClock returns a context that ends with its parent. The caller ends it.
func NewClock(parent context.Context) *Clock {
	c := &Clock{ended: make(chan struct{})}
	c.Context, c.end = context.WithCancelCause(parent)
	context.AfterFunc(c.Context, c.finish)
	return c
}

// Done is closed when it has ended.
func (c *Clock) Done() <-chan struct{} { return c.ended }

// Err is [context.DeadlineExceeded] if the cause of the end is one.
func (c *Clock) Err() error { c.mu.Lock(); defer c.mu.Unlock(); return c.err }

// End ends it with a cause, which may be nil.
func (c *Clock) End(cause error) { c.end(cause) }

// Limit starts a time-out, which ends it with a cause that is a
// [context.DeadlineExceeded].
func (c *Clock) Limit(after time.Duration, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	c.left, c.cause = after, cause
	c.run()
}

// Halt stops the time-out until goOn is called, once.
func (c *Clock) Halt() (goOn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halted++
	c.stop()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.halted--
		c.run()
	}
}

// run goes on unless there is a reason not to. The mutex is held.
func (c *Clock) run() {
	if cause := c.cause; cause != nil && c.halted == 0 && c.err == nil && c.timer == nil {
		c.since = time.Now()
		c.timer = time.AfterFunc(c.left, func() { c.end(cause) })
	}
}

// stop stops the timer if it runs. The mutex is held.
func (c *Clock) stop() {
	if c.timer == nil {
		return
	}
	c.timer.Stop()
	c.timer = nil
	c.left -= time.Since(c.since)
}

func (c *Clock) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	if c.err = c.Context.Err(); errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		c.err = context.DeadlineExceeded
	}
	close(c.ended)
}
