package badserver

import (
	"crypto/rand"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// ServeHTTP is the streamable HTTP transport, at whatever path it is reached.
// POST carries messages; GET is refused with 405 unless the script has an
// answer for "GET": that answer is then sent if it has a payload or an error
// status, and otherwise a stream is opened that sends Before and stays open
// for [Server.Notify]. DELETE ends a session with 200. Headers and accepted
// types are not checked. A broken connection is a panic with
// [http.ErrAbortHandler], as net/http wants it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.abortIfGone()
	switch r.Method {
	case http.MethodPost:
		s.servePost(w, r)
	case http.MethodGet:
		s.serveGet(w, r)
	case http.MethodDelete:
		s.serveDelete(w, r)
	default:
		notAllowed(w)
	}
}

func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	request := readRequest(r, "http", r.Header.Get(mcp.HeaderSessionID))
	s.record(request)
	if !s.admit(w, request) {
		return
	}
	a := s.act(request)
	if s.opensSession(a) {
		w.Header().Set(mcp.HeaderSessionID, s.newSession())
	}
	s.render(w, r, a)
}

func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	request := bare(r, "http", r.Header.Get(mcp.HeaderSessionID))
	s.record(request)
	if !s.admit(w, request) {
		return
	}
	a := s.act(request)
	if !a.scripted {
		notAllowed(w)
		return
	}
	if a.streams() && !a.Hang {
		a.SSE, a.Hang = true, !a.Cut && !a.Exit
	}
	s.render(w, r, a)
}

func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request) {
	request := bare(r, "http", r.Header.Get(mcp.HeaderSessionID))
	s.record(request)
	if !s.admit(w, request) {
		return
	}
	s.endSession(request.Connection)
	s.render(w, r, s.act(request))
}

// render plays an act as the answer to one HTTP request.
func (s *Server) render(w http.ResponseWriter, r *http.Request, a act) {
	ctx, cancel := join(r.Context(), s.web)
	defer cancel()
	out := newReply(w, a, s.status(a))
	defer out.end()
	if out.framed {
		defer s.listen(out.notify)()
		out.open()
	}
	switch a.play(ctx, out) {
	case answered:
		out.open()
		return
	case cut:
		out.half(a.payload)
	case exited:
		s.exit()
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) status(a act) int {
	switch {
	case a.Status != 0:
		return a.Status
	case a.unknown && s.modern:
		return http.StatusNotFound // as 2026-07-28 requires
	case a.request.Notification || a.request.Method == "":
		return http.StatusAccepted
	default:
		return http.StatusOK
	}
}

// streams reports whether the answer to a GET is a stream, rather than a
// message of its own.
func (a act) streams() bool {
	return a.payload == nil && a.Status < http.StatusMultipleChoices
}

// abortIfGone cuts a request to a server that was closed or has exited.
func (s *Server) abortIfGone() {
	if s.web.Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// admit turns a request away whose session is missing or unknown.
func (s *Server) admit(w http.ResponseWriter, request Request) bool {
	switch {
	case !s.script.Session || s.modern || startsConnection(request.Method):
		return true
	case request.Connection == "":
		http.Error(w, "Bad Request: no session id", http.StatusBadRequest)
		return false
	case !s.hasSession(request.Connection):
		http.Error(w, "Session not found", http.StatusNotFound)
		return false
	default:
		return true
	}
}

func startsConnection(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodServerDiscover)
}

func (s *Server) opensSession(a act) bool {
	return s.script.Session && !s.modern &&
		a.request.Method == string(mcp.MethodInitialize) &&
		a.failure() == nil && s.status(a) == http.StatusOK
}

// newSession makes up an id that no other server has given, so that a
// restarted server does not know the sessions of the one before.
func (s *Server) newSession() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = true
	return id
}

func (s *Server) hasSession(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func (s *Server) endSession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// readRequest reads the message of a POST. What of it cannot be read is
// missing, and makes a message that is none.
func readRequest(r *http.Request, transport, connection string) Request {
	body, _ := io.ReadAll(r.Body)
	request := parse(body)
	request.Transport, request.Connection, request.Header = transport, connection, r.Header
	return request
}

// bare is an HTTP request that carries no message.
func bare(r *http.Request, transport, connection string) Request {
	return Request{Transport: transport, Connection: connection, Method: r.Method, Header: r.Header}
}

func notAllowed(w http.ResponseWriter) {
	http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
}
