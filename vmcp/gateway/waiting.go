package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// rounds are the calls of a caller that wait for input, by requestState. The
// session bounds how long they wait, see [vmcp.Peer.Away].
type rounds struct {
	mu      sync.Mutex
	waiting map[string]*round
}

func newRounds() *rounds { return &rounds{waiting: map[string]*round{}} }

// mostRounds is how many calls of a caller may wait for input at the same time.
const mostRounds = 1_000

// outcomeKept is how long an outcome waits for a client that was asked something
// which the backend then did without: to make the call again would be worse.
const outcomeKept = 5 * time.Minute

// wait keeps a round until the client comes back, or has not for long after the
// call has ended.
func (w *rounds) wait(state string, r *round) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) >= mostRounds {
		return &endpoint.Failure{Code: http.StatusServiceUnavailable, Message: fmt.Sprintf("%d calls wait for input already; try again later", mostRounds)}
	}
	w.waiting[state] = r
	context.AfterFunc(r.ctx, func() { time.AfterFunc(outcomeKept, func() { w.forget(state) }) })
	return nil
}

// resume returns the round that waits under a state, to the request that it is
// about.
func (w *rounds) resume(state, subject string) (*round, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.waiting[state]
	switch {
	case !ok:
		return nil, errNoRound
	case r.of != subject:
		return nil, errOtherRound
	}
	delete(w.waiting, state)
	return r, nil
}

func (w *rounds) forget(state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, state)
}

var (
	errNoRound    = &endpoint.Failure{Code: mcp.INVALID_PARAMS, Message: "nothing waits under this requestState, or no more; send the request without it"}
	errOtherRound = &endpoint.Failure{Code: mcp.INVALID_PARAMS, Message: "the requestState belongs to another request"}
)
