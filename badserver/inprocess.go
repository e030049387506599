package badserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Dial returns a new in-process connection for client.NewClient. Messages pass
// it as JSON, so what cannot be decoded fails as it would on a wire; there is
// no HTTP status. Notifications are handed to the client within the call that
// caused them.
//
// The connection does not depend on ctx once it is there; its owner closes it.
// Close may be called again and again. After it, after an exit, or after
// [Server.Close], sending fails with transport.ErrTransportClosed, as Dial
// itself does when the server is closed.
func (s *Server) Dial(ctx context.Context) (transport.Interface, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.running.Err() != nil {
		return nil, transport.ErrTransportClosed
	}
	c := &inprocess{server: s, name: s.connection("inprocess")}
	c.ctx, c.cancel = context.WithCancel(s.running)
	c.leave = s.listen(c.notify)
	return c, nil
}

// connection makes up a name for a connection.
func (s *Server) connection(transport string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialed++
	return fmt.Sprintf("%s-%d", transport, s.dialed)
}

// inprocess is the client's end of an in-process connection.
type inprocess struct {
	server *Server
	name   string
	ctx    context.Context
	cancel context.CancelFunc
	leave  func()

	mu      sync.Mutex
	handler func(mcp.JSONRPCNotification)
}

func (c *inprocess) Start(context.Context) error {
	if c.ctx.Err() != nil {
		return transport.ErrTransportClosed
	}
	return nil
}

func (c *inprocess) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("badserver: marshal request: %w", err)
	}
	payload, err := c.send(ctx, data)
	if err != nil {
		return nil, err
	}
	var response transport.JSONRPCResponse
	if err := json.Unmarshal(payload, &response); err != nil {
		return nil, fmt.Errorf("badserver: unmarshal response: %w", err)
	}
	return &response, nil
}

func (c *inprocess) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	data, err := json.Marshal(notification)
	if err != nil {
		return fmt.Errorf("badserver: marshal notification: %w", err)
	}
	_, err = c.send(ctx, data)
	return err
}

// send has the server act on a message, and returns what it said.
func (c *inprocess) send(ctx context.Context, data []byte) ([]byte, error) {
	if c.ctx.Err() != nil {
		return nil, transport.ErrTransportClosed
	}
	request := parse(data)
	request.Transport, request.Connection = "inprocess", c.name
	c.server.record(request)

	joined, cancel := join(ctx, c.ctx)
	defer cancel()
	call := &call{inprocess: c}
	switch c.server.act(request).play(joined, call) {
	case cut:
		return nil, fmt.Errorf("badserver: connection cut: %w", io.ErrUnexpectedEOF)
	case exited:
		_ = c.Close()
		return nil, transport.ErrTransportClosed
	case silent:
		return nil, c.reason(ctx)
	}
	return call.payload, nil
}

// reason says why a silent call has ended.
func (c *inprocess) reason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return transport.ErrTransportClosed
}

// call is the stage of one in-process call.
type call struct {
	*inprocess
	payload []byte
}

func (c *call) answer(payload []byte) { c.payload = payload }

func (c *inprocess) notify(message []byte) {
	var notification mcp.JSONRPCNotification
	if !parse(message).Notification || json.Unmarshal(message, &notification) != nil {
		return
	}
	c.mu.Lock()
	handler := c.handler
	c.mu.Unlock()
	if handler != nil && c.ctx.Err() == nil {
		handler(notification)
	}
}

func (c *inprocess) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handler = handler
}

func (c *inprocess) Close() error {
	c.leave()
	c.cancel()
	return nil
}

func (c *inprocess) GetSessionId() string { return "" }
