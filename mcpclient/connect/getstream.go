package connect

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// getStream is beneath the GET with which mcp-go opens the stream for what a
// server of an older protocol says unasked. mcp-go v1.2.1 sends it in the middle
// of the handshake, and then each second until it is answered with 405 or 404.
type getStream struct {
	http.RoundTripper
	log      *slog.Logger
	reopened func()        // what [OnReopened] asks for
	ready    chan struct{} // closed when the handshake is over
	once     sync.Once
	version  string // of the protocol, once ready

	mu     sync.Mutex
	opened bool      // whether there ever was a stream
	since  time.Time // when the stream that there was last opened; zero if the last attempt was in vain
	pause  time.Duration
	pauses *backoff.ExponentialBackOff
}

func newGetStream(next http.RoundTripper, log *slog.Logger, reopened func()) *getStream {
	return &getStream{RoundTripper: next, log: log, reopened: reopened, ready: make(chan struct{}), pauses: newPauses()}
}

// allow lets the GET through, with the version of the protocol, which mcp-go
// does not know yet when it makes it.
func (s *getStream) allow(version string) {
	s.once.Do(func() {
		s.version = version
		close(s.ready)
	})
}

// RoundTrip holds the GET back until its time has come.
func (s *getStream) RoundTrip(req *http.Request) (*http.Response, error) {
	if !opensStream(req) {
		return s.RoundTripper.RoundTrip(req)
	}
	if req.Response == nil { // not redirected
		if err := s.waitForTurn(req.Context()); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Header.Set(transport.HeaderKeyProtocolVersion, s.version)
	}
	resp, err := s.RoundTripper.RoundTrip(req)
	if err == nil && isRedirect(resp.StatusCode) {
		return resp, nil
	}
	return s.judge(req.Context(), resp, err)
}

// opensStream tells the GET from one that resumes an answer, and from a POST
// that a redirect has made a GET of.
func opensStream(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Accept") == "text/event-stream" && req.Header.Get("Last-Event-ID") == ""
}

func isRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}

// waitForTurn waits until it is time to listen, or ctx ends.
func (s *getStream) waitForTurn(ctx context.Context) error {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if wait := s.takePause(); wait > 0 && !lifetime.Sleep(ctx, wait) {
		return ctx.Err()
	}
	return nil
}

// CloseIdleConnections passes on: [http.Client.CloseIdleConnections] comes here.
func (s *getStream) CloseIdleConnections() {
	if closer, ok := s.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// takePause is how long the server is to be left alone, beyond the second that
// mcp-go does.
func (s *getStream) takePause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.since.IsZero():
	case time.Since(s.since) >= steady:
		s.pauses.Reset()
		s.pause = 0
	default:
		s.longer() // it ended at once
	}
	s.since = time.Time{}
	return s.pause
}

// longer makes the next pause a longer one. The mutex is held.
func (s *getStream) longer() { s.pause = s.pauses.NextBackOff() }

// judge tells mcp-go to give up where trying again is of no use.
func (s *getStream) judge(ctx context.Context, resp *http.Response, err error) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.longer()
		return nil, err
	case isStream(resp):
		if s.opened {
			s.reopened()
		}
		s.opened, s.since = true, time.Now()
		return resp, nil
	case s.mayComeBack(resp.StatusCode):
		s.longer()
		return resp, nil
	default:
		s.log.LogAttrs(ctx, slog.LevelDebug, "the server has no stream for what it says unasked",
			slog.String(events.KeyEvent, events.Listening), slog.Int(events.KeyStatus, resp.StatusCode))
		resp.StatusCode = http.StatusMethodNotAllowed
		return resp, nil
	}
}

// mayComeBack says whether the status may be another one next time. A stream that
// there once was may come back, and a 404 then says that the session is gone.
func (s *getStream) mayComeBack(status int) bool {
	read := failure.OfStatus(status)
	return read.Transient() || s.opened && (read.Kind == failure.Failing || status == http.StatusNotFound)
}

func isStream(resp *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return mediaType == "text/event-stream" && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusAccepted)
}
