package badserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// Request is one message that reached the server, whatever became of it.
type Request struct {
	// Transport is "http", "sse", "stdio" or "inprocess".
	Transport string
	// Connection tells connections apart: the Mcp-Session-Id that the request
	// carried over HTTP, the stream's id over HTTP+SSE, otherwise a name that
	// is unique within the server.
	Connection string
	// Method is the JSON-RPC method, or "GET" or "DELETE" for an HTTP request
	// of that kind. It is empty for a client's answer to a server's request,
	// and for what is no JSON-RPC message at all.
	Method string
	// ID and Params are nil where the message has none.
	ID, Params json.RawMessage
	// Notification is true for a method call without an id.
	Notification bool
	// Message is the whole message as received.
	Message json.RawMessage
	// Header is the HTTP header, nil on other transports.
	Header http.Header
}

// Requests returns a copy of every message received so far, in the order of
// arrival. What is sent to a server that was closed or has exited may be missing.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, 0, len(s.requests))
	for _, request := range s.requests {
		out = append(out, request.clone())
	}
	return out
}

// Count returns how many messages with this method were received so far.
func (s *Server) Count(method string) int {
	count, _ := s.progress(method)
	return count
}

// Await blocks until at least n messages with this method were received, or
// ctx ends, whose error it returns then. With it a test can act while a
// request hangs, without sleeping.
func (s *Server) Await(ctx context.Context, method string, n int) error {
	for {
		count, more := s.progress(method)
		if count >= n {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// progress counts, and returns what is closed with the next request.
func (s *Server) progress(method string) (count int, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.requests {
		if request.Method == method {
			count++
		}
	}
	return count, s.arrived
}

func (s *Server) record(request Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request.clone())
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// asks reports whether the client waits for an answer.
func (r Request) asks() bool { return r.Method != "" && r.ID != nil }

func (r Request) clone() Request {
	r.ID, r.Params, r.Message = bytes.Clone(r.ID), bytes.Clone(r.Params), bytes.Clone(r.Message)
	r.Header = r.Header.Clone()
	return r
}

// parse reads one JSON-RPC message; of what is none only Message is set.
func parse(data []byte) Request {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(data, &message) != nil {
		return Request{Message: data}
	}
	return Request{
		Method:       message.Method,
		ID:           message.ID,
		Params:       message.Params,
		Notification: message.Method != "" && message.ID == nil,
		Message:      data,
	}
}

// matches reports whether the answer is one to this request.
func (a Answer) matches(request Request) bool {
	if a.Cursor == nil && a.Protocol == "" {
		return true
	}
	var params struct {
		Cursor string                     `json:"cursor"`
		Meta   map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(request.Params, &params) // what cannot be read has no cursor
	return (a.Cursor == nil || *a.Cursor == params.Cursor) &&
		(a.Protocol == "" || a.Protocol == declared(params.Meta))
}
