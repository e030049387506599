package wire

import (
	"context"
	"sync"
)

// An Exchange is the side-car of a call: what the wire knows of it and mcp-go's
// client keeps to itself, and what the call has beyond mcp-go's requests. mcp-go
// v1.2.1 keeps the codes of the specifications as typed errors and flattens every
// other one to text; of an error it drops the data, and of a result all that its
// types do not have.
//
// Who wants to know puts one into the context of the call with [WithExchange]
// and reads it with [Exchange.Facts] and [Exchange.Refusal] when the call is
// over, or hears of each answer by [Exchange.Hook]. Who does the request finds it
// with [ExchangeOf] and tells it: package connect for its transports, with
// whatever encoding the answer came, and [Transport] for any client over
// streamable HTTP. A transport of one's own does it in its SendRequest:
//
//	exchange := wire.ExchangeOf(ctx)
//	exchange.Sent(id, session)
//	response, err := ...
//	switch {
//	case err != nil:
//	case response.Error != nil:
//		exchange.Refused(wire.Refusal{Code: response.Error.Code, ...})
//	default:
//		response.Result = exchange.Answered(method, response.Result)
//	}
//
// All methods may be called on nil and by many goroutines at once. Exchanges
// nest: each that is told tells those around it, so that a whole list knows its
// last page.
type Exchange struct {
	outer *Exchange

	mu    sync.Mutex
	known *known // nil while nothing is: most of an exchange's size
	meta  map[string]string
	hooks *Hooks
}

// known is what an exchange was told of its last request.
type known struct {
	Facts
	refusal Refusal
	failure error
	owned   bool // somebody above Transport tells of the request
}

// WithExchange returns a context with a new exchange. It costs one allocation.
func WithExchange(ctx context.Context) (context.Context, *Exchange) {
	with := &exchangeContext{Context: ctx}
	with.exchange.outer = ExchangeOf(ctx)
	return with, &with.exchange
}

// ExchangeOf returns the innermost exchange of a context, nil where there is
// none.
func ExchangeOf(ctx context.Context) *Exchange {
	exchange, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return exchange
}

// WithoutExchange returns a context that hides the exchange of the one it was
// made from. A transport that has the server work with the context of the call,
// in the same process, passes it on so: what that server asks others for is no
// request of this call.
func WithoutExchange(ctx context.Context) context.Context {
	if ExchangeOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, exchangeKey{}, (*Exchange)(nil))
}

type exchangeKey struct{}

// exchangeContext is the context and the exchange in one allocation.
type exchangeContext struct {
	context.Context
	exchange Exchange
}

func (c *exchangeContext) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return &c.exchange
	}
	return c.Context.Value(key)
}

// Facts returns what is known so far.
func (e *Exchange) Facts() Facts {
	return e.last().Facts
}

// Refusal returns the JSON-RPC error that the last request was answered with, and
// whether it was.
func (e *Exchange) Refusal() (Refusal, bool) {
	last := e.last()
	return last.refusal, last.Refused
}

// Failure is why [Transport] did not let the answer to the last request pass: a
// [*BodyTooLargeError] or a [*MismatchError]; nil where it did. mcp-go v1.2.1 hands
// it on from a JSON body, and from an event stream writes it to its log only.
func (e *Exchange) Failure() error { return e.last().failure }

func (e *Exchange) last() known {
	if e == nil {
		return known{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		return known{}
	}
	return *e.known
}

// Carry asks who does the request to put fields into its params._meta, for the
// requests of mcp-go that have no room for them; see [Exchange.Meta].
func (e *Exchange) Carry(fields map[string]string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.meta = fields
}

func (k *known) begin(requestID, sessionID string) {
	k.Facts = Facts{Sent: true, RequestID: requestID, SessionID: sessionID, Peer: k.Peer}
	k.refusal, k.failure = Refusal{}, nil
}

// each tells the exchange and those around it.
func (e *Exchange) each(tell func(*Exchange)) {
	for ; e != nil; e = e.outer {
		e.mu.Lock()
		if e.known == nil {
			e.known = &known{}
		}
		tell(e)
		e.mu.Unlock()
	}
}

func (e *Exchange) isOwned() bool { return e.last().owned }

// Hook sets the hooks of the requests of the call. It is to be called before it.
func (e *Exchange) Hook(hooks Hooks) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hooks = &hooks
}

// wantsResults says whether a hook is given results.
func (e *Exchange) wantsResults() bool {
	for ; e != nil; e = e.outer {
		if hooks := e.hooked(); hooks != nil && hooks.Result != nil {
			return true
		}
	}
	return false
}

func (e *Exchange) hooked() *Hooks {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hooks
}
