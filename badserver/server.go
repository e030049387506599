package badserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Server plays a [Script]. One server can be reached over any number of
// connections and transports at the same time; they share its script, the
// counts behind [Answer].Times, and its record of requests. All methods are
// safe for concurrent use.
type Server struct {
	script  Script
	modern  bool
	builtin map[string]json.RawMessage

	// running ends with Close, web also when the script says Exit over HTTP.
	running, web context.Context
	stop, exit   context.CancelFunc

	mu        sync.Mutex
	answers   map[string][]*scripted
	requests  []Request
	arrived   chan struct{} // closed and replaced with each request
	sessions  map[string]bool
	listeners map[*listener]bool
	dialed    int
}

// scripted is an answer and how often it was given.
type scripted struct {
	Answer
	given int
}

// listener is a connection that [Server.Notify] reaches.
type listener struct{ send func([]byte) }

// New returns a server that plays script, of which it keeps a copy. It starts
// nothing by itself. A test that lets requests hang over HTTP must call
// [Server.Close] before it closes the HTTP server around it.
func New(script Script) *Server {
	script = script.clone().withDefaults()
	s := &Server{
		script:    script,
		modern:    mcp.IsModernProtocol(script.Protocol),
		builtin:   script.builtin(),
		answers:   make(map[string][]*scripted),
		arrived:   make(chan struct{}),
		sessions:  make(map[string]bool),
		listeners: make(map[*listener]bool),
	}
	for method, list := range script.Answers {
		for _, answer := range list {
			s.answers[method] = append(s.answers[method], &scripted{Answer: answer})
		}
	}
	s.running, s.stop = context.WithCancel(context.Background())
	s.web, s.exit = context.WithCancel(s.running)
	return s
}

// String is the name that the server has in its script.
func (s *Server) String() string { return s.script.Name }

// Close ends the server on every transport: what hangs or is delayed is
// released without an answer, streams break, [Server.Serve] returns, and later
// requests fail like those to a dead program. It does not wait for them, and
// its error is always nil. Calling it again does nothing.
func (s *Server) Close() error {
	s.stop()
	return nil
}

// Notify sends message, a whole JSON-RPC message, to every in-process and
// stdio connection, HTTP+SSE stream, open GET stream and held streamable HTTP
// answer there is at this moment. In-process handlers run before Notify
// returns; on the other transports the message is then written.
func (s *Server) Notify(message json.RawMessage) {
	message = compact(message)
	for _, l := range s.listening() {
		l.send(message)
	}
}

func (s *Server) listening() []*listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*listener, 0, len(s.listeners))
	for l := range s.listeners {
		all = append(all, l)
	}
	return all
}

// listen lets Notify reach send until the returned function is called.
func (s *Server) listen(send func([]byte)) (leave func()) {
	l := &listener{send}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}
}

// join returns a context that ends with either of the two.
func join(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() { stop(); cancel() }
}
