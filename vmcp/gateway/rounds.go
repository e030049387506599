package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

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

// inRounds makes a call to a backend that can ask the client, in the way that
// the client's protocol has.
func inRounds(c *call, again mcp.MultiRoundTripParams, run func(context.Context) (any, error)) (any, error) {
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

// round is a call to a backend that may have to wait for input.
type round struct {
	of        string          // what the client asks
	ctx       context.Context // of the call to the backend
	cancel    context.CancelFunc
	questions chan question
	done      chan outcome
	request   atomic.Pointer[endpoint.Request] // the client's last
	pending   question                         // what it was asked last
	away      atomic.Bool                      // no request of the client waits for what the call says next
}

// question is one, and where the answer goes.
type question struct {
	mcp.InputRequest
	answer chan mcp.InputResponse
}

type outcome struct {
	result any
	err    error
}

// only is the name of the one question of a round.
const only = "1"

// subject is what a request asks: the client may not change its mind in between.
func (c *call) subject() string {
	name, _ := mcp.ExtractHeaderName(c.Method, c.Params())
	return string(c.Method) + "\n" + name
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

func (r *round) notify(n mcp.JSONRPCNotification) { r.request.Load().Notify(n) }

// ask waits until the client has sent its request again with the answer.
func (r *round) ask(ctx context.Context, asked mcp.InputRequest) (mcp.InputResponse, error) {
	a := question{asked, make(chan mcp.InputResponse, 1)}
	select {
	case r.questions <- a:
	case <-ctx.Done():
		return mcp.InputResponse{}, ctx.Err()
	case <-r.ctx.Done():
		return mcp.InputResponse{}, r.ctx.Err()
	}
	select {
	case answer := <-a.answer:
		return answer, nil
	case <-ctx.Done():
		return mcp.InputResponse{}, ctx.Err()
	case <-r.ctx.Done():
		return mcp.InputResponse{}, r.ctx.Err()
	}
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
