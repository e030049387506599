package endpoint

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-candor/candor/internal/sse"
)

// messageTimeout is how long a client may take to send or receive one message.
const messageTimeout = time.Minute

// heartbeat is how often a silent stream carries a comment, so that no proxy
// takes it for dead and its end is noticed.
const heartbeat = 25 * time.Second

// writer writes to a client.
type writer struct{ *sse.Writer }

func newWriter(w http.ResponseWriter) writer { return writer{sse.NewWriter(w, messageTimeout)} }

// message writes one line of JSON as an event.
func (w writer) message(line []byte) error {
	return w.Send(sse.Event{Name: "message", Data: bytes.TrimSuffix(line, []byte("\n"))})
}

// json writes one body.
func (w writer) json(status int, line []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	w.WriteHeader(status)
	return w.SendNow(line)
}

// follow writes what comes into a box until stop is closed.
func (w writer) follow(box *outbox, stop <-chan struct{}) error {
	defer box.ring() // for another listener, should this one leave something
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		if err := w.empty(box, stop); err != nil {
			return err
		}
		select {
		case <-box.full:
		case <-ticker.C:
			if err := w.Beat(); err != nil {
				return err
			}
		case <-stop:
			return nil
		}
	}
}

// empty writes all that waits, unless stop is closed.
func (w writer) empty(box *outbox, stop <-chan struct{}) error {
	for !closed(stop) {
		message, line, ok := box.next()
		if !ok {
			return nil
		}
		if err := w.message(line); err != nil {
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
