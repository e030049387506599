// Package sse writes server-sent events, as the HTML standard has them
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
package sse

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// MediaType is what a stream of events is.
const MediaType = "text/event-stream"

// An Event is one message of a stream.
type Event struct {
	Name  string        // empty is "message" to a browser
	Retry time.Duration // how long a browser that loses the stream waits before it comes back; 0 leaves it to the browser
	Data  []byte        // of any number of lines, which end in \n
}

// Append appends the event as it is on the wire.
func (e Event) Append(to []byte) []byte {
	if e.Retry > 0 {
		to = append(strconv.AppendInt(append(to, "retry: "...), e.Retry.Milliseconds(), 10), '\n')
	}
	if e.Name != "" {
		to = append(append(append(to, "event: "...), e.Name...), '\n')
	}
	for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
		to = append(append(append(to, "data: "...), line...), '\n')
	}
	return append(to, '\n')
}

// A Writer writes to one client, which may be slow: what it writes is sent at
// once, and fails when that takes longer than the time-out. Between two writes
// there is none, not even the server's own, since a stream is not meant to end.
// It is not safe for concurrent use.
type Writer struct {
	http.ResponseWriter
	controller *http.ResponseController
	timeout    time.Duration
}

// NewWriter returns a writer with a time-out for each write. It sends nothing
// yet.
func NewWriter(w http.ResponseWriter, timeout time.Duration) *Writer {
	return &Writer{w, http.NewResponseController(w), timeout}
}

// Header makes the answer an event stream. It keeps a Cache-Control.
func Header(header http.Header) {
	header.Set("Content-Type", MediaType)
	header.Set("X-Accel-Buffering", "no") // a proxy in front would keep events back
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-cache, no-transform")
	}
}

// Open sends the headers of an event stream.
func (w *Writer) Open() {
	Header(w.Header())
	w.WriteHeader(http.StatusOK)
}

// Send sends an event.
func (w *Writer) Send(event Event) error {
	return w.SendNow(event.Append(make([]byte, 0, len(event.Data)+64)))
}

// Beat sends a comment, so that no proxy takes a silent stream for dead and its
// end is noticed.
func (w *Writer) Beat() error { return w.SendNow([]byte(": still here\n\n")) }

// SendNow sends bytes that need not be an event.
func (w *Writer) SendNow(data []byte) error {
	if err := supported(w.controller.SetWriteDeadline(time.Now().Add(w.timeout))); err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
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

// CanStream says whether what is written reaches the client before the end: a
// middleware in front may hide that the server can do that.
func (w *Writer) CanStream() bool {
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
