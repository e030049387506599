package vmcp

import (
	"context"
	"errors"
	"sync"
	"time"
)

// answerTimeout is how long a peer that is away between its requests may take to
// answer: a person may have to look something up.
const answerTimeout = 10 * time.Minute

// clock is the context of a call whose peer may be away. Its time-out stands
// still while an answer of the peer is awaited: a person may take longer than a
// backend.
type clock struct {
	context.Context // has the parent's values, and the cause of the end
	end             context.CancelCauseFunc
	ended           chan struct{}

	mu    sync.Mutex
	err   error
	cause error         // of a time-out; nil as long as there is none
	left  time.Duration // when it last stood still
	since time.Time     // when it went on
	timer *time.Timer   // nil while it stands still
	asked int           // questions that are open
}

// newClock returns a context that ends with its parent. The caller ends it.
func newClock(parent context.Context) *clock {
	c := &clock{ended: make(chan struct{})}
	c.Context, c.end = context.WithCancelCause(parent)
	context.AfterFunc(c.Context, c.finish)
	return c
}

func (c *clock) Done() <-chan struct{} { return c.ended }

func (c *clock) Err() error { c.mu.Lock(); defer c.mu.Unlock(); return c.err }

// limit starts a time-out, which ends the call with a cause that is a
// [context.DeadlineExceeded].
func (c *clock) limit(after time.Duration, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
	c.left, c.cause = after, cause
	c.run()
}

// await stops the time-out until the returned function is called, but ends the
// call if that takes too long.
func (c *clock) await(atMost time.Duration) (goOn func()) {
	late := time.AfterFunc(atMost, func() { c.end(unanswered(atMost)) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.halt()
	return func() {
		late.Stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked--
		c.run()
	}
}

// run goes on unless there is a reason not to. The mutex is held.
func (c *clock) run() {
	if cause := c.cause; cause != nil && c.asked == 0 && c.err == nil {
		c.since = time.Now()
		c.timer = time.AfterFunc(c.left, func() { c.end(cause) })
	}
}

// halt stops the timer if it runs. The mutex is held.
func (c *clock) halt() {
	if c.timer == nil {
		return
	}
	c.timer.Stop()
	c.timer = nil
	c.left -= time.Since(c.since)
}

func (c *clock) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
	if c.err = c.Context.Err(); errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		c.err = context.DeadlineExceeded
	}
	close(c.ended)
}

// unanswered is the cause of the end of a call whose peer did not answer what
// the backend asked.
type unanswered time.Duration

func (u unanswered) Error() string {
	return "the caller did not answer what the backend asked within " + time.Duration(u).String()
}

// Unwrap says that time ran out.
func (u unanswered) Unwrap() error { return context.DeadlineExceeded }
