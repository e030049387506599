package badserver

import (
	"bytes"
	"net/http"
	"sync"
)

// reply is the stage of one HTTP answer. Framed, it is a stream of events that
// others may write to as well; otherwise it is a single body.
type reply struct {
	status int
	framed bool

	mu     sync.Mutex
	w      http.ResponseWriter
	opened bool
	ended  bool
}

// newReply sets the headers of an answer but sends nothing yet.
func newReply(w http.ResponseWriter, a act, status int) *reply {
	out := &reply{w: w, status: status, framed: a.SSE || len(a.Before)+len(a.After) > 0}
	switch {
	case a.ContentType != "":
		w.Header().Set("Content-Type", a.ContentType)
	case out.framed:
		w.Header().Set("Content-Type", "text/event-stream")
	case a.payload != nil:
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	return out
}

// open sends the headers if that has not been done.
func (r *reply) open() { r.write(nil) }

func (r *reply) notify(message []byte) { r.write(r.frame(message)) }
func (r *reply) answer(payload []byte) { r.write(r.frame(payload)) }

// half sends the first half of the answer, without telling its length.
func (r *reply) half(payload []byte) {
	data := r.frame(payload)
	r.write(data[:len(data)/2])
	r.flush()
}

// end keeps those who still hold the stream from writing once the handler is
// gone.
func (r *reply) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

func (r *reply) frame(message []byte) []byte {
	if !r.framed {
		return message
	}
	return event("message", message)
}

func (r *reply) write(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if !r.opened {
		r.opened = true
		r.w.WriteHeader(r.status)
	}
	_, _ = r.w.Write(data) // a client that has left ends the request's context
	if r.framed {
		r.flush()
	}
}

// flush has no effect on a writer that cannot, such as one under test.
func (r *reply) flush() { _ = http.NewResponseController(r.w).Flush() }

// event frames data as one server-sent event.
func event(name string, data []byte) []byte {
	var out bytes.Buffer
	out.WriteString("event: " + name + "\n")
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		out.WriteString("data: ")
		out.Write(line)
		out.WriteString("\n")
	}
	out.WriteString("\n")
	return out.Bytes()
}
