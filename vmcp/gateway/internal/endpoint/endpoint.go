package endpoint

import (
	"context"
	"log/slog"
	"reflect"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// Options bound an endpoint. Each of them is needed.
type Options struct {
	// Info is what clients are told about the server.
	Info mcp.Implementation
	// Logger gets what no client can be told.
	Logger *slog.Logger
	// Idle is how long a session over HTTP may neither ask nor listen before it
	// ends.
	Idle time.Duration
	// Body is the most that one message may have, in bytes.
	Body int64
	// Sessions is how many sessions there may be over HTTP, and how many open
	// streams.
	Sessions int
	// Calls is how many requests may be answered at the same time. Open streams
	// do not count.
	Calls int
}

// An Endpoint serves MCP to clients. Its methods are safe for concurrent use.
type Endpoint struct {
	Options
	load
	handler  Handler
	sessions sessions
}

// New returns an endpoint. The caller shuts it down.
func New(handler Handler, options Options) *Endpoint {
	e := &Endpoint{Options: options, handler: handler}
	e.bound(options.Calls, options.Sessions)
	e.sessions.byID = map[string]*Client{}
	e.serving.Go(e.sweep)
	return e
}

// Shutdown refuses new requests, ends the open streams, and waits for the
// requests that are being answered, until ctx ends: those left are cancelled
// then. It returns the error of ctx if there were some. Who serves HTTP shuts
// that down afterwards.
func (e *Endpoint) Shutdown(ctx context.Context) error {
	e.serving.Close()
	e.endStreams()
	defer e.endSessions()
	defer e.endAll()
	select {
	case <-e.serving.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve answers a request of a client. What is said for it afterwards does not
// belong to it any more.
func (e *Endpoint) serve(ctx context.Context, asked *Request) reply {
	result, err := e.result(ctx, asked)
	if failure.Of(err).Kind == failure.Cancelled && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	asked.finish()
	return e.encode(ctx, asked, result, err)
}

func (e *Endpoint) result(ctx context.Context, asked *Request) (result any, err error) {
	defer Guard(ctx, e.Logger, string(asked.Method), &err)
	modern := asked.Client.Modern()
	switch {
	case asked.Method == mcp.MethodPing && !modern:
	case asked.Method == mcp.MethodInitialize && !modern:
		if err = asked.introduce(); err != nil {
			return nil, err
		}
		result, err = e.handler.Serve(ctx, asked)
	default:
		result, err = e.handler.Serve(ctx, asked)
	}
	if isNil(result) {
		result = &mcp.Result{}
	}
	if err == nil && modern {
		decorate(result, asked.Method, e.Info)
	}
	return result, err
}

// isNil says whether there is no result, not even one of a type.
func isNil(result any) bool {
	v := reflect.ValueOf(result)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// encode encodes an answer. A result that JSON cannot say is a failure.
func (e *Endpoint) encode(ctx context.Context, asked *Request, result any, err error) (r reply) {
	var failed error
	defer func() {
		if failed != nil {
			r = errorReply(asked.id, failed)
		}
	}()
	defer Guard(ctx, e.Logger, string(asked.Method), &failed)
	if err != nil {
		return errorReply(asked.id, asked.Client.InEra(err))
	}
	if r, failed = success(asked.id, result); failed != nil {
		e.Logger.ErrorContext(ctx, "a result cannot be written as JSON", events.KeyEvent, events.ResultUnwritable, events.KeyMethod, string(asked.Method), events.KeyError, failed.Error())
		failed = errInternal
	}
	return r
}

// notified handles a notification of a client.
func (e *Endpoint) notified(ctx context.Context, client *Client, m *message) {
	client.touch()
	if m.Method == string(mcp.MethodNotificationCancelled) {
		client.cancel(m.Params)
		return
	}
	var unsaid error // nobody waits for an answer to a notification
	defer Guard(ctx, e.Logger, m.Method, &unsaid)
	e.handler.HandleNotification(ctx, client, m.Method, m.Params)
}

// disconnected tells the handler that a client has gone.
func (e *Endpoint) disconnected(client *Client) {
	var unsaid error
	defer Guard(context.Background(), e.Logger, "", &unsaid)
	e.handler.Disconnected(client)
}
