package wire

import (
	"context"
	"sync"
)

// An Exchange learns what the wire knows of a call and mcp-go's client keeps to
// itself: which request it became, where that went, and with which code it was
// answered. mcp-go v1.2.1 keeps the codes of the specifications as typed errors
// and flattens every other one to text.
//
// Who wants to know puts one into the context of the call with [WithExchange]
// and reads it with [Exchange.Facts] when the call is over. Who does the request
// finds it with [ExchangeOf] and tells it: package connect for its transports,
// with whatever encoding the answer came, and [Transport] for any client over
// streamable HTTP. A transport of one's own does it in its SendRequest:
//
//	exchange := wire.ExchangeOf(ctx)
//	exchange.Sent(id, session)
//	response, err := ...
//	if err == nil && response.Error != nil {
//		exchange.Refused(response.Error.Code)
//	}
//
// All methods may be called on nil and by many goroutines at once. Exchanges
// nest: each that is told tells those around it, so that a whole list knows its
// last page.
type Exchange struct {
	outer *Exchange

	mu    sync.Mutex
	facts *Facts // nil while there are none: most of an exchange's size
	meta  map[string]string
	owned bool // somebody above Transport tells of the request
}

// Facts are what is known of the last request of a call; what is not known is
// the zero value.
type Facts struct {
	Sent      bool   // there was a request
	RequestID string // its JSON-RPC id
	SessionID string // the Mcp-Session-Id that it went with
	Refused   bool   // it was answered with a JSON-RPC error
	Code      int    // which; any integer, whatever mcp-go makes of it
	Status    int    // of HTTP, as the server sent it
	Peer      Peer
}

// A Peer is the other end of a connection, in the words of the OpenTelemetry
// semantic conventions.
type Peer struct {
	Transport       string // "tcp", "pipe"
	Protocol        string // "http"
	ProtocolVersion string // "1.1", "2"; known with the first answer
	Address         string // the host, without a port
	Port            int
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
	if e == nil {
		return Facts{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.facts == nil {
		return Facts{}
	}
	return *e.facts
}

// Sent says that a request is about to be sent. What was known of the one
// before is forgotten.
func (e *Exchange) Sent(requestID, sessionID string) {
	e.each(func(each *Exchange) {
		each.owned = true
		each.facts.begin(requestID, sessionID)
	})
}

// Refused says that the request was answered with a JSON-RPC error.
func (e *Exchange) Refused(code int) {
	e.each(func(each *Exchange) { each.facts.Refused, each.facts.Code = true, code })
}

// Reached says where the request goes.
func (e *Exchange) Reached(peer Peer) {
	e.each(func(each *Exchange) { each.facts.Peer = peer })
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

// Meta returns what the innermost exchange that carries fields asks to put into
// params._meta; nil for nothing. It must not be changed.
func (e *Exchange) Meta() map[string]string {
	for ; e != nil; e = e.outer {
		e.mu.Lock()
		meta := e.meta
		e.mu.Unlock()
		if meta != nil {
			return meta
		}
	}
	return nil
}

func (f *Facts) begin(requestID, sessionID string) {
	f.Sent, f.RequestID, f.SessionID = true, requestID, sessionID
	f.Refused, f.Code, f.Status = false, 0, 0
}

// each tells the exchange and those around it.
func (e *Exchange) each(tell func(*Exchange)) {
	for ; e != nil; e = e.outer {
		e.mu.Lock()
		if e.facts == nil {
			e.facts = &Facts{}
		}
		tell(e)
		e.mu.Unlock()
	}
}

func (e *Exchange) isOwned() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owned
}
