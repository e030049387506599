package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Handler gives the methods their meaning. It is called by many goroutines.
type Handler interface {
	// Serve answers a request with a result that is written as JSON, nil being
	// {}, or with an error; see [Failure]. ctx ends when the client cancels the
	// request or leaves. A result of mcp-go's types gets what its protocol
	// demands of every result; the handler must not use it afterwards. A panic
	// is logged and becomes an error.
	Serve(ctx context.Context, request *Request) (any, error)
	// HandleNotification is told of each notification but notifications/cancelled.
	HandleNotification(ctx context.Context, client *Client, method string, params json.RawMessage)
	// Disconnected is told, once, when a client has gone that was connected or tried to
	// be, and nothing that it asked is being served any more.
	Disconnected(client *Client)
}

// A Request is what a client asks.
type Request struct {
	Method mcp.MCPMethod
	// Client is who asks. On protocol 2026-07-28 it is a new one each time.
	Client *Client
	// Header is that of the HTTP request, or nil.
	Header http.Header
	// Meta is the params' _meta; it may be nil.
	Meta *mcp.Meta

	id     json.RawMessage
	params json.RawMessage
	ctx    context.Context // ends when the client cancels the request
	ending <-chan struct{} // closed when open streams must end

	mu     sync.Mutex
	stream sink // nil when the request is answered
}

// sender is who sent a message over HTTP, and what came in its _meta.
type sender struct {
	client *Client
	meta   *mcp.Meta
	opens  bool // the message begins a session
}

func newRequest(ctx context.Context, from sender, m *message, stream sink) *Request {
	return &Request{
		Method: mcp.MCPMethod(m.Method), Client: from.client, Meta: from.meta,
		id: m.ID, params: m.Params, ctx: ctx, stream: stream,
	}
}

// Decode reads the parameters into a struct. The error is an invalid-params
// error.
func (r *Request) Decode(into any) error { return decode(r.params, into) }

// Params returns the parameters as they came.
func (r *Request) Params() json.RawMessage { return r.params }

// ID returns the request's ID as it came, for logs and spans.
func (r *Request) ID() string { return string(r.id) }

// Notify sends a notification that belongs to this request, ahead of its
// answer. Once the request is answered or cancelled it goes where the client's
// other notifications go. The stream of a subscription has none of its own. It
// does not block; n must not be changed afterwards.
func (r *Request) Notify(n mcp.JSONRPCNotification) {
	if r.Method == mcp.MethodSubscriptionsListen || r.send(n) != nil {
		r.Client.Notify(n)
	}
}

// Ask asks the client something while it waits for the answer to this request,
// and decodes what it answers, unless into is nil. See [Client.Ask] for the
// errors.
func (r *Request) Ask(ctx context.Context, method mcp.MCPMethod, params, into any) error {
	return r.Client.ask(ctx, r, method, params, into)
}

// send sends a message ahead of the answer.
func (r *Request) send(message any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stream == nil || r.ctx.Err() != nil {
		return errEnded
	}
	return r.stream.send(message)
}

// finish says that the answer is next.
func (r *Request) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream = nil
}
