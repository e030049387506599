package endpoint

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// patience is how long a client may take to send or receive one message.
const patience = time.Minute

// heartbeat is how often a silent stream carries a comment, so that no proxy
// takes it for dead and its end is noticed.
const heartbeat = 25 * time.Second

// wire writes to a client who may be slow.
type wire struct {
	http.ResponseWriter
	controller *http.ResponseController
}

func newWire(w http.ResponseWriter) wire { return wire{w, http.NewResponseController(w)} }

// now writes the parts and sends them at once.
func (w wire) now(parts ...[]byte) error {
	if err := supported(w.controller.SetWriteDeadline(time.Now().Add(patience))); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if err := supported(w.controller.Flush()); err != nil {
		return err
	}
	return supported(w.controller.SetWriteDeadline(time.Time{}))
}

// supported forgives writers that cannot do something.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// streams says whether what is written reaches the client before the end: a
// middleware in front may hide that the server can do that.
func (w wire) streams() bool {
	for under := w.ResponseWriter; ; {
		switch wrapper := under.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			under = wrapper.Unwrap()
		default:
			return false
		}
	}
}

// events begins a stream of server-sent events.
func (w wire) events() events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no") // of a proxy in front
	w.WriteHeader(http.StatusOK)
	return events{w}
}

// events writes server-sent events.
type events struct{ wire }

// message writes one line of JSON.
func (e events) message(line []byte) error {
	return e.now([]byte("event: message\ndata: "), line, []byte("\n"))
}

func (e events) comment() error { return e.now([]byte(": still here\n\n")) }

// write writes what is in a box until stop is closed.
func (e events) write(box *outbox, stop <-chan struct{}) error {
	defer box.ring() // for another listener, should this one leave something
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		if err := e.all(box, stop); err != nil {
			return err
		}
		select {
		case <-box.full:
		case <-ticker.C:
			if err := e.comment(); err != nil {
				return err
			}
		case <-stop:
			return nil
		}
	}
}

// all writes all that waits, unless stop is closed.
func (e events) all(box *outbox, stop <-chan struct{}) error {
	for !closed(stop) {
		message, line, ok := box.take()
		if !ok {
			return nil
		}
		if err := e.message(line); err != nil {
			box.putBack(message)
			return err
		}
	}
	return nil
}

func closed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// response is the answer to a POST: one JSON body, or an event stream from the
// moment that something has to be said ahead of the answer. Its request does
// not send while it is ended.
type response struct {
	wire
	logger  *slog.Logger
	takes   bool        // the client takes event streams
	broken  func(error) // is told when the stream cannot be written
	session string      // to tell the client about; empty if there is nothing to tell

	ahead  *outbox       // what is to be said first; nil as long as there is nothing
	stop   chan struct{} // closed when there will be no more of it
	said   chan error    // why the writing ended
	events events
}

func newResponse(w http.ResponseWriter, r *http.Request, logger *slog.Logger, broken func(error)) *response {
	out := &response{wire: newWire(w), logger: logger, broken: broken}
	out.takes = accepts(r, "text/event-stream") && out.streams()
	return out
}

// accepts says whether the client wants a media type; one that says nothing
// wants all, but an event stream only if it asks for one.
func accepts(r *http.Request, media string) bool {
	for _, header := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(header, ",") {
			accepted, _, _ = strings.Cut(accepted, ";")
			if accepted = strings.TrimSpace(accepted); accepted == "*/*" || strings.EqualFold(accepted, media) {
				return true
			}
		}
	}
	return false
}

// send makes a stream of the response.
func (r *response) send(message any) error {
	if !r.takes {
		return errEnded
	}
	if r.ahead == nil {
		r.ahead, r.stop, r.said = newOutbox(r.logger), make(chan struct{}), make(chan error, 1)
		r.nameSession()
		r.events = r.wire.events()
		go r.write()
	}
	return r.ahead.send(message)
}

func (r *response) write() {
	err := r.events.write(r.ahead, r.stop)
	if err != nil {
		r.broken(err)
	}
	r.said <- err
}

// end writes the answer, with the status if that can still be said.
func (r *response) end(status int, line []byte) error {
	if r.ahead == nil {
		r.nameSession()
		return r.json(status, line)
	}
	close(r.stop)
	if err := <-r.said; err != nil {
		return err
	}
	if err := r.events.all(r.ahead, nil); err != nil {
		return err
	}
	return r.events.message(line)
}

func (r *response) nameSession() {
	if r.session != "" {
		r.Header().Set(SessionHeader, r.session)
	}
}
