package connect_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/require"
)

// endpoint is an HTTP server that knows its open sockets and what was asked.
type endpoint struct {
	URL string

	mu       sync.Mutex
	sockets  map[net.Conn]bool
	requests []*http.Request
	changed  chan struct{}
}

// listen serves a handler on the loopback interface.
func listen(t *testing.T, handler http.Handler) *endpoint {
	t.Helper()
	e := &endpoint{sockets: make(map[net.Conn]bool), changed: make(chan struct{})}
	server := httptest.NewUnstartedServer(e.recording(handler))
	server.Config.ConnState = e.note
	server.Start()
	e.URL = server.URL
	t.Cleanup(server.Close)
	return e
}

// encrypted is an HTTPS server with a certificate of its own.
func encrypted(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// overHTTP serves s over streamable HTTP, overSSE over the older transport.
func overHTTP(t *testing.T, s *badserver.Server) *endpoint {
	t.Helper()
	e := listen(t, s)
	t.Cleanup(func() { _ = s.Close() })
	return e
}

func overSSE(t *testing.T, s *badserver.Server) *endpoint {
	t.Helper()
	e := listen(t, s.SSE())
	t.Cleanup(func() { _ = s.Close() })
	return e
}

func (e *endpoint) recording(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.requests = append(e.requests, r.Clone(r.Context()))
		e.mu.Unlock()
		handler.ServeHTTP(w, r)
	})
}

// received returns the heads of the requests so far.
func (e *endpoint) received() []*http.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*http.Request(nil), e.requests...)
}

func (e *endpoint) note(socket net.Conn, state http.ConnState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch state {
	case http.StateNew:
		e.sockets[socket] = true
	case http.StateClosed, http.StateHijacked:
		e.sockets[socket] = false
	default:
		return
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// awaitClosed returns once there were sockets and none of them is open.
func (e *endpoint) awaitClosed(t *testing.T) {
	t.Helper()
	deadline := soon(t)
	for {
		open, changed := e.open()
		if open == 0 {
			return
		}
		select {
		case <-changed:
		case <-deadline.Done():
			require.FailNow(t, "sockets stayed open", "%d", open)
		}
	}
}

func (e *endpoint) open() (int, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.sockets) == 0 {
		return -1, e.changed
	}
	open := 0
	for _, isOpen := range e.sockets {
		if isOpen {
			open++
		}
	}
	return open, e.changed
}

// refused is the address of a port on which nobody listens.
func refused(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}
