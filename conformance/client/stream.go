package main

import (
	"context"
	"net/http"
	"sync"
)

// stream makes the requests and knows when the stream for the server's own
// requests is open, which mcp-go does not tell.
type stream struct {
	opened chan struct{}
	once   sync.Once
}

func newStream() *stream { return &stream{opened: make(chan struct{})} }

// RoundTrip makes a request.
func (s *stream) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && req.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		s.once.Do(func() { close(s.opened) })
	}
	return resp, err
}

// wait returns once the stream is open.
func (s *stream) wait(ctx context.Context) error {
	select {
	case <-s.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
