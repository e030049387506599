package badserver

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
)

// SSE returns the older HTTP+SSE transport, at whatever path it is reached: a
// GET opens the event stream and is told an endpoint, each POST to it is
// accepted with 202, and the answer comes on the stream. A scripted status
// from 300 on, and an exit, are answers of the POST itself.
//
// An answer for "GET" is sent instead of the stream if it has a payload or an
// error status; otherwise its Delay, Hang, Cut and Exit come before the
// endpoint, and its Before after it.
//
// Each call returns a handler with streams of its own.
func (s *Server) SSE() http.Handler {
	return &sse{server: s, streams: make(map[string]*stream)}
}

type sse struct {
	server  *Server
	mu      sync.Mutex
	streams map[string]*stream
}

// stream is one open event stream and the acts that are played on it.
type stream struct {
	*reply
	ctx    context.Context
	cancel context.CancelFunc
	acts   sync.WaitGroup
}

func (h *sse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.server.abortIfGone()
	switch r.Method {
	case http.MethodGet:
		h.serveGet(w, r)
	case http.MethodPost:
		h.servePost(w, r)
	default:
		notAllowed(w)
	}
}

func (h *sse) serveGet(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	request := bare(r, "sse", id)
	h.server.record(request)
	a := h.server.act(request)
	if !a.streams() {
		h.server.render(w, r, a)
		return
	}
	h.hold(w, r, id, a)
	panic(http.ErrAbortHandler)
}

// hold keeps the stream of a GET open until either side leaves.
func (h *sse) hold(w http.ResponseWriter, r *http.Request, id string, a act) {
	ctx, cancel := join(r.Context(), h.server.web)
	defer cancel()
	if !a.wait(ctx) || a.Cut {
		return
	}
	if a.Exit {
		h.server.exit()
		return
	}
	a.SSE = true
	out := &stream{reply: newReply(w, a, http.StatusOK), ctx: ctx, cancel: cancel}
	defer h.add(id, out)()
	defer h.server.listen(out.notify)() // before the client knows that it is there
	out.write(event("endpoint", []byte("?sessionId="+id)))
	for _, message := range a.Before {
		out.notify(message)
	}
	<-ctx.Done()
}

// add makes a stream known until the returned function is called, which also
// waits for what is still played on it.
func (h *sse) add(id string, out *stream) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[id] = out
	return func() {
		h.mu.Lock()
		delete(h.streams, id)
		h.mu.Unlock()
		out.acts.Wait()
		out.end()
	}
}

func (h *sse) servePost(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("sessionId")
	request := readRequest(r, "sse", id)
	h.server.record(request)
	if !h.has(id) {
		http.Error(w, "Session not found", http.StatusNotFound)
		return
	}
	a := h.server.act(request)
	if a.Exit || a.Status >= http.StatusMultipleChoices {
		h.server.render(w, r, a)
		return
	}
	h.start(id, a)
	w.WriteHeader(http.StatusAccepted)
}

func (h *sse) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[id] != nil
}

// start plays an act on a stream, unless that has ended meanwhile.
func (h *sse) start(id string, a act) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if out := h.streams[id]; out != nil {
		out.acts.Go(func() { out.play(a) })
	}
}

func (out *stream) play(a act) {
	if a.play(out.ctx, out) == cut {
		out.half(a.payload)
		out.cancel()
	}
}
