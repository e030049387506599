package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// mostStreams is how many pages can follow at a time.
	mostStreams = 64
	// quiet is how long a stream waits after an event, so that a burst of
	// changes is one more event.
	quiet = 250 * time.Millisecond
	// heartbeat is how often a stream shows that it is alive.
	heartbeat = 15 * time.Second
	// longestWrite is how long a reader may take for one event.
	longestWrite = 10 * time.Second
)

// events sends the live part of the page now and after each change, until the
// reader leaves or the board is closed.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, fmt.Sprintf("%d pages follow already: close one of them", mostStreams), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between would keep events back
	if r.Method == http.MethodHead {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.board.open, cancel)()
	s := newStream(w)
	defer s.end()
	for h.follow(ctx, s, r) == nil {
		continue
	}
}

// follow sends one event and waits until there is more to say.
func (h *handler) follow(ctx context.Context, s *stream, r *http.Request) error {
	document, changed := h.board.Current()
	part, err := newView(document, h.address(r), time.Now()).render("live")
	if err != nil {
		return err
	}
	if err := s.send(event(part)); err != nil {
		return err
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	return s.until(ctx, changed)
}

// event is a text, whose lines end in \n only, in the format of the HTML standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). A browser
// that loses the stream comes back a second later.
func event(text []byte) string {
	var b strings.Builder
	b.WriteString("retry: 1000\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString("data: " + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

// stream writes to one reader.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w, http.NewResponseController(w)}
}

// send lifts the server's own limit for an answer, which is meant to end.
func (s *stream) send(text string) error {
	if err := s.deadline(time.Now().Add(longestWrite)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(s.writer, text); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *stream) deadline(at time.Time) error {
	if err := s.control.SetWriteDeadline(at); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// end leaves the connection to its next request. If it fails, there is none.
func (s *stream) end() { _ = s.deadline(time.Time{}) }

func (s *stream) pause(ctx context.Context) error {
	select {
	case <-time.After(quiet):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stream) until(ctx context.Context, changed <-chan struct{}) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-changed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
			if err := s.send(": still here\n\n"); err != nil {
				return err
			}
		}
	}
}
