package status

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mcp-candor/candor/internal/sse"
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
	// comeBack is how long a browser that loses the stream waits.
	comeBack = time.Second
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
	sse.Header(w.Header())
	if r.Method == http.MethodHead {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.board.open, cancel)()
	out := sse.NewWriter(w, longestWrite)
	for h.follow(ctx, out, r) == nil {
		continue
	}
}

// follow sends one event and waits until there is more to say.
func (h *handler) follow(ctx context.Context, out *sse.Writer, r *http.Request) error {
	document, changed := h.board.Current()
	part, err := newView(document, h.address(r), time.Now()).render("live")
	if err != nil {
		return err
	}
	if err := out.Send(sse.Event{Retry: comeBack, Data: bytes.TrimSuffix(part, []byte("\n"))}); err != nil {
		return err
	}
	if err := pause(ctx); err != nil {
		return err
	}
	return until(ctx, out, changed)
}

// pause waits while a burst may go on.
func pause(ctx context.Context) error {
	select {
	case <-time.After(quiet):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until waits for a change, and shows meanwhile that the stream is alive.
func until(ctx context.Context, out *sse.Writer, changed <-chan struct{}) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-changed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
			if err := out.Beat(); err != nil {
				return err
			}
		}
	}
}
