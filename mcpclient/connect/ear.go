package connect

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/events"
)

// ear is beneath the GET with which mcp-go opens the stream for what a server of
// an older protocol says unasked. mcp-go v1.2.1 sends it in the middle of the
// handshake, and then each second until it is answered with 405 or 404.
type ear struct {
	http.RoundTripper
	log     *slog.Logger
	again   func()        // what [OnReopened] asks for
	ready   chan struct{} // closed when the handshake is over
	open    sync.Once
	version string // of the protocol, once ready

	mu    sync.Mutex
	heard bool      // whether there ever was a stream
	since time.Time // when the stream that there was last opened; zero if the last attempt was in vain
	tries int       // in vain
}

func newEar(next http.RoundTripper, log *slog.Logger, again func()) *ear {
	return &ear{RoundTripper: next, log: log, again: again, ready: make(chan struct{})}
}

// listen lets the GET through, with the version of the protocol, which mcp-go
// does not know yet when it makes it.
func (e *ear) listen(version string) {
	e.open.Do(func() {
		e.version = version
		close(e.ready)
	})
}

// RoundTrip holds the GET back until its time has come.
func (e *ear) RoundTrip(req *http.Request) (*http.Response, error) {
	if !opensStream(req) {
		return e.RoundTripper.RoundTrip(req)
	}
	if req.Response == nil { // not redirected
		if err := e.patience(req.Context()); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Header.Set(transport.HeaderKeyProtocolVersion, e.version)
	}
	resp, err := e.RoundTripper.RoundTrip(req)
	if err == nil && isRedirect(resp.StatusCode) {
		return resp, nil
	}
	return e.judge(req.Context(), resp, err)
}

// opensStream tells the GET from one that resumes an answer, and from a POST
// that a redirect has made a GET of.
func opensStream(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Accept") == "text/event-stream" && req.Header.Get("Last-Event-ID") == ""
}

func isRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}

// patience waits until it is time to listen, or ctx ends.
func (e *ear) patience(ctx context.Context) error {
	select {
	case <-e.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if wait := e.pause(); wait > 0 && !sleep(ctx, wait) {
		return ctx.Err()
	}
	return nil
}

// CloseIdleConnections passes on: [http.Client.CloseIdleConnections] comes here.
func (e *ear) CloseIdleConnections() {
	if closer, ok := e.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// pause is how long the server is to be left alone, beyond the second that
// mcp-go does.
func (e *ear) pause() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.since.IsZero() && time.Since(e.since) >= steady {
		e.tries = 0
	} else if !e.since.IsZero() {
		e.tries++ // it ended at once
	}
	e.since = time.Time{}
	if e.tries == 0 {
		return 0
	}
	return pause(e.tries)
}

// judge tells mcp-go to give up where trying again is of no use.
func (e *ear) judge(ctx context.Context, resp *http.Response, err error) (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		e.tries++
		return nil, err
	case isStream(resp):
		if e.heard {
			e.again()
		}
		e.heard, e.since = true, time.Now()
		return resp, nil
	case e.passing(resp.StatusCode):
		e.tries++
		return resp, nil
	default:
		e.log.LogAttrs(ctx, slog.LevelDebug, "the server has no stream for what it says unasked",
			slog.String(events.KeyEvent, events.Listening), slog.Int(events.KeyStatus, resp.StatusCode))
		resp.StatusCode = http.StatusMethodNotAllowed
		return resp, nil
	}
}

// passing says whether the status may be another one next time. A stream that
// there once was may come back, and a 404 then says that the session is gone.
func (e *ear) passing(status int) bool {
	if temporary(status) {
		return true
	}
	return e.heard && (status == http.StatusNotFound || status >= http.StatusInternalServerError)
}

func temporary(status int) bool {
	return slices.Contains([]int{
		http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, status)
}

func isStream(resp *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return mediaType == "text/event-stream" && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusAccepted)
}
