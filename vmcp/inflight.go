package vmcp

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
)

// calls are those to one backend whose peers it may turn to, the last begun
// last.
type calls struct {
	mu     sync.Mutex
	open   []*call
	issued uint64 // progress tokens
}

// call is one to a backend, for as long as it is in flight.
type call struct {
	ctx   context.Context // ends with it
	stop  context.CancelFunc
	clock *lifetime.Clock // of one whose peer may be away, else nil
	peer  *Peer
	of    *calls
	asked int               // questions that the peer has to answer; guarded by the mutex of the calls
	token mcp.ProgressToken // the caller's, nil if it wants no progress
	ours  string            // instead of the caller's, on the way to the backend

	telling sync.Mutex
	over    bool
}

type callKey struct{}

// begin takes down a call and returns what to make it with: its context, and
// the _meta that goes on to the backend. It must be ended.
func (c *calls) begin(ctx context.Context, meta *mcp.Meta) (context.Context, *mcp.Meta, *call) {
	peer, ok := peerOf(ctx)
	if !ok {
		return ctx, onward(meta, ""), &call{}
	}
	begun := &call{peer: peer, of: c}
	begun.start(context.WithValue(ctx, callKey{}, begun))
	if meta != nil && peer.Notify != nil {
		begun.token = meta.ProgressToken
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun.token != nil {
		begun.ours = c.issue()
	}
	c.open = append(c.open, begun)
	return begun.ctx, onward(meta, begun.ours), begun
}

// start gives the call its context.
func (c *call) start(parent context.Context) {
	if c.peer.Away == nil {
		c.ctx, c.stop = context.WithCancel(parent)
		return
	}
	c.clock = lifetime.NewClock(parent)
	c.ctx, c.stop = c.clock, func() { c.clock.End(nil) }
}

// end ends what the backend asked the peer for, and waits for a progress that is
// being told; none is told afterwards.
func (c *call) end() {
	if c.of == nil {
		return
	}
	c.stop()
	c.of.mu.Lock()
	c.of.open = slices.DeleteFunc(c.of.open, func(o *call) bool { return o == c })
	c.of.mu.Unlock()
	c.telling.Lock()
	defer c.telling.Unlock()
	c.over = true
}

// limit gives the call that ctx comes from a time-out, if it is one of these and
// has a clock.
func (c *calls) limit(ctx context.Context, after time.Duration, cause error) bool {
	from, ok := ctx.Value(callKey{}).(*call)
	if ok = ok && from.of == c && from.clock != nil; ok {
		from.clock.Limit(after, cause)
	}
	return ok
}

// asking returns the call for which a backend asks for something, among those
// whose peer can answer: the one that ctx comes from, else the one that began
// last and whose peer is there. Its peer is being asked until done is called.
func (c *calls) asking(ctx context.Context, can func(*Peer) bool) (of *call, done func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from, known := ctx.Value(callKey{}).(*call); known && slices.Contains(c.open, from) {
		if !can(from.peer) {
			return nil, nil, false
		}
		return from, c.pose(from), true
	}
	for _, open := range slices.Backward(c.open) {
		if can(open.peer) && !open.isAway() {
			return open, c.pose(open), true
		}
	}
	return nil, nil, false
}

// pose counts a question to a call's peer. The mutex is held.
func (c *calls) pose(of *call) (done func()) {
	of.asked++
	goOn := func() {}
	if of.clock != nil {
		goOn = await(of.clock)
	}
	return func() {
		goOn()
		c.mu.Lock()
		defer c.mu.Unlock()
		of.asked--
	}
}

// isAway says whether a question that may belong to another call would have to
// wait for the peer. The mutex of the calls is held.
func (c *call) isAway() bool {
	return c.peer.Away != nil && (c.asked > 0 || c.peer.Away())
}

// answerTimeout is how long a peer that is away between its requests may take to
// answer: a person may have to look something up.
const answerTimeout = 10 * time.Minute

// await stops the time-out of a call until goOn is called: a person may take
// longer than a backend. It ends the call if that takes too long.
func await(clock *lifetime.Clock) (goOn func()) {
	late := time.AfterFunc(answerTimeout, func() { clock.End(unanswered(answerTimeout)) })
	run := clock.Halt()
	return func() {
		late.Stop()
		run()
	}
}

// unanswered is the cause of the end of a call whose peer did not answer what
// the backend asked.
type unanswered time.Duration

func (u unanswered) Error() string {
	return "the caller did not answer what the backend asked within " + time.Duration(u).String()
}

// Unwrap says that time ran out.
func (u unanswered) Unwrap() error { return context.DeadlineExceeded }

// tokenPrefix begins the progress tokens that a session gives to backends: two
// callers may choose the same one.
const tokenPrefix = "vmcp-"

// issue returns a progress token that no other call to the backend has had.
func (c *calls) issue() string {
	c.issued++
	return tokenPrefix + strconv.FormatUint(c.issued, 10)
}
