package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// On protocol 2026-07-28 a server cannot ask a client anything while that waits
// for an answer. It answers that it needs input, and the client sends its
// request again with that
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
// Backends ask while their one request is open. So that stays open, in a round,
// from one request of the client to the next. With a backend of 2026-07-28 the
// client conducts the rounds by itself.

func (g *Gateway) newState() string { return g.states + rand.Text() }

// inRoundTrips makes a call to a backend that can ask the client, in the way that
// the client's protocol has.
func inRoundTrips(c *call, again mcp.MultiRoundTripParams, run func(context.Context) (any, error)) (any, error) {
	switch {
	case !c.Client.Modern():
		return run(c.outgoing(c.ctx, c.askable(c.atOnce, c.Notify)))
	case strings.HasPrefix(again.RequestState, c.gateway.states):
		return c.resume(again)
	case c.caller.key.asks == vmcp.Asks{}:
		return run(c.outgoing(c.ctx, c.told()))
	default:
		r, err := c.newRound(run)
		if err != nil {
			return nil, err
		}
		return r.next(c)
	}
}

func (c *call) newRound(run func(context.Context) (any, error)) (*round, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	r := &round{of: c.subject(), ctx: ctx, cancel: cancel, questions: make(chan question), done: make(chan outcome, 1)}
	r.request.Store(c.Request)
	stop := context.AfterFunc(c.gateway.life, cancel)
	c.caller.use(1) // the session must not end between two requests
	if !c.gateway.running.Go(func() {
		defer c.caller.release()
		defer stop()
		defer cancel()
		peer := c.askable(r.ask, r.notify)
		peer.Away = r.away.Load
		r.done <- c.outcome(run, c.outgoing(ctx, peer))
	}) {
		c.caller.release()
		cancel()
		return nil, errShut
	}
	return r, nil
}

// outcome makes the call. A panic, which the endpoint does not see here, costs
// this call only.
func (c *call) outcome(run func(context.Context) (any, error), ctx context.Context) (out outcome) {
	defer endpoint.Guard(ctx, c.gateway.Logger, string(c.Method), &out.err)
	out.result, out.err = run(ctx)
	return out
}

// next answers a request of the client with the call's outcome, or with what the
// backend asks. Should the client leave meanwhile, the call ends.
func (r *round) next(c *call) (any, error) {
	r.request.Store(c.Request)
	r.away.Store(false)
	defer r.away.Store(true)
	select {
	case r.pending = <-r.questions:
		return r.require(c)
	case out := <-r.done:
		return out.result, out.err
	case <-c.ctx.Done():
		r.cancel()
		return nil, c.ctx.Err()
	}
}

// require answers that the pending question must be answered.
func (r *round) require(c *call) (any, error) {
	state := c.gateway.newState()
	if err := c.caller.rounds.wait(state, r); err != nil {
		r.cancel()
		return nil, err
	}
	return mcp.NewInputRequiredResult(mcp.InputRequests{only: r.pending.InputRequest}, state), nil
}

// resume gives a waiting call what the client answered. An answer that is no
// good is refused, and the call waits for a better one; one that is missing is
// asked for again.
func (c *call) resume(again mcp.MultiRoundTripParams) (any, error) {
	r, err := c.caller.rounds.resume(again.RequestState, c.subject())
	if err != nil {
		return nil, err
	}
	answer, ok := again.InputResponses[only]
	if !ok {
		return r.require(c)
	}
	err = answer.DecodeFor(r.pending.Method)
	if err == nil {
		err = check(&answer)
	}
	if err != nil {
		_ = c.caller.rounds.wait(again.RequestState, r) // there was room for it before
		return nil, fmt.Errorf("%w: the answer %q to %s: %w; send it again", mcp.ErrInvalidParams, only, r.pending.Method, err)
	}
	r.away.Store(false) // before the backend can ask the next thing
	r.pending.answer <- answer
	return r.next(c)
}
