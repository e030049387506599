package connect

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// turn is when a server may be asked again that has asked to be left alone, with
// Retry-After. No request is sent before, whichever it is.
type turn struct {
	mu    sync.Mutex
	at    time.Time
	cause error // what the server answered
}

const (
	// longestTurn is how long is waited for one turn, whatever the server asks.
	longestTurn = time.Minute
	// mostTurns is how often a request is sent again that has no time-out.
	mostTurns = 10
)

// again says whether a request that failed is to be sent again, when its turn has
// come: the server asks to wait with it, and has certainly done nothing or what may
// be done twice.
func (t *turn) again(ctx context.Context, method string, tries int, err error) bool {
	if !t.heed(err) || !failure.Of(err).Repeatable(isHarmless(method)) {
		return false
	}
	_, bounded := ctx.Deadline()
	return bounded || clockOf(ctx) != nil || tries < mostTurns
}

// isHarmless says whether a method may be done twice: it only reads, or it is the
// handshake.
func isHarmless(method string) bool {
	row, known := capability.Of(mcp.MCPMethod(method))
	return known && (row.Of == nil || row.Lists != "")
}

// heed takes down that the server asks to be left alone, if it does.
func (t *turn) heed(err error) bool {
	read := failure.Of(err)
	if read.RetryAfter <= 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at, t.cause = time.Now().Add(min(read.RetryAfter, longestTurn)), err
	return true
}

// wait waits for the turn. The time is not the server's to answer in. It gives up
// where ctx would end before: the failure is then the server's own.
func (t *turn) wait(ctx context.Context) error {
	t.mu.Lock()
	left, cause := time.Until(t.at), t.cause
	t.mu.Unlock()
	if left <= 0 {
		return nil
	}
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < left {
		return cause
	}
	if clock := clockOf(ctx); clock != nil {
		defer clock.Halt()()
	}
	if !lifetime.Sleep(ctx, left) {
		return ctx.Err()
	}
	return nil
}

type clockKey struct{}

// withClock returns a context that ends after the budget of an opening, but for the
// time in which that stands still.
func withClock(ctx context.Context, budget time.Duration) (context.Context, *lifetime.Clock) {
	clock := lifetime.NewClock(ctx)
	clock.Limit(budget, context.DeadlineExceeded)
	return context.WithValue(clock, clockKey{}, clock), clock
}

func clockOf(ctx context.Context) *lifetime.Clock {
	clock, _ := ctx.Value(clockKey{}).(*lifetime.Clock)
	return clock
}
