package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// ErrCannotAsk says that a client cannot be asked anything: it is on protocol
// 2026-07-28, where servers send no requests, or it has left.
var ErrCannotAsk = errors.New("the client cannot be asked")

var errLeft = fmt.Errorf("%w: it has left", ErrCannotAsk)

// question is a request of ours to a client.
type question struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`

	// settled says that the question was sent, or that nobody waits for the
	// answer any more, whichever came first.
	settled atomic.Bool
}

// settle says whether the caller is the one who decides: to send it, or not to.
func (q *question) settle() bool { return q.settled.CompareAndSwap(false, true) }

// Ask asks the client something outside any request, and decodes what it
// answers, unless into is nil. The error is [ErrCannotAsk], the cause of ctx's
// end, or the client's: a [*Failure].
func (c *Client) Ask(ctx context.Context, method mcp.MCPMethod, params, into any) error {
	return c.ask(ctx, nil, method, params, into)
}

// ask asks on the stream of a request if it has one.
func (c *Client) ask(ctx context.Context, during sink, method mcp.MCPMethod, params, into any) error {
	q := &question{JSONRPC: mcp.JSONRPC_VERSION, Method: string(method)}
	if params != nil {
		var err error
		if q.Params, err = json.Marshal(params); err != nil {
			return fmt.Errorf("ask the client %s: %w", method, err)
		}
	}
	answered, err := c.openQuestion(q)
	if err != nil {
		return err
	}
	defer c.closeQuestion(q)
	if err := c.sendDuring(during, q); err != nil {
		return fmt.Errorf("%w: %w", ErrCannotAsk, err)
	}
	select {
	case m, ok := <-answered:
		if !ok {
			return errLeft
		}
		return m.into(into)
	case <-ctx.Done():
		if !q.settle() {
			_ = c.sendDuring(during, cancelled(q.ID, context.Cause(ctx))) // a client that has left need not know
		}
		return context.Cause(ctx)
	}
}

// sendDuring sends a message on the stream of a request, or else where everything
// goes that belongs to none.
func (c *Client) sendDuring(during sink, message any) error {
	if during != nil && during.send(message) == nil {
		return nil
	}
	c.mu.Lock()
	out := c.out
	c.mu.Unlock()
	return out.send(message)
}

func (c *Client) openQuestion(q *question) (<-chan *message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case mcp.IsModernProtocol(c.version) || c.out == nil:
		return nil, fmt.Errorf("%w: protocol %s has no requests from servers", ErrCannotAsk, c.version)
	case c.silent:
		return nil, errLeft
	}
	c.lastAsked++
	q.ID = c.lastAsked
	answered := make(chan *message, 1)
	c.asked[q.ID] = answered
	return answered, nil
}

func (c *Client) closeQuestion(q *question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, q.ID)
}

// answered hands an answer of the client to who asked, if it still waits, and
// says whether anybody ever did.
func (c *Client) answered(m *message) bool {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastSeen = time.Now()
	if answered, ok := c.asked[id]; ok && err == nil {
		delete(c.asked, id)
		answered <- m
	}
	return err == nil && id > 0 && id <= c.lastAsked
}

// into decodes an answer, or returns the error that it is.
func (m *message) into(result any) error {
	if m.Error != nil {
		return &Failure{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("the client's answer cannot be read: %w", err)
	}
	return nil
}

func cancelled(id int64, why error) mcp.JSONRPCNotification {
	return NewNotification(string(mcp.MethodNotificationCancelled), map[string]any{"requestId": id, "reason": why.Error()})
}
