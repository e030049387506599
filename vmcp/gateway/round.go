package gateway

import (
	"context"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// statePrefix, and what is this gateway's own after it, tells its states from
// those of backends, which may be gateways too.
const statePrefix = "vmcp-"

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
