package endpoint_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waiting answers tools/call when it is told to.
func waiting(began chan<- bool, proceed <-chan bool) map[string]answer {
	return map[string]answer{"tools/call": func(ctx context.Context, _ *endpoint.Request) (any, error) {
		began <- true
		select {
		case <-proceed:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// background does a request and hands its answer over.
func (s *site) background(body string, h headers) <-chan string {
	answered := make(chan string, 1)
	go func() { answered <- text(s.t, s.post(body, h)) }()
	return answered
}

func TestShutdownWaitsForWhatIsBeingAnswered(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 1), make(chan bool)
	s := serve(t, waiting(began, proceed), endpoint.Options{})
	session := s.open(nil)
	in, leave := s.listen(session)
	defer leave()
	answered := s.background(call, session)
	receive(t, began)
	down := make(chan error, 1)
	go func() { down <- s.endpoint.Shutdown(soon(t)) }()
	assert.Empty(t, in.next(), "streams end at once")
	response := s.post(ping, session)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusServiceUnavailable, s.post(hello(legacy), nil).StatusCode)
	assert.Equal(t, http.StatusServiceUnavailable, s.do(t.Context(), http.MethodGet, "", session).StatusCode)
	assert.Empty(t, down)
	close(proceed)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, receive(t, answered))
	require.NoError(t, receive(t, down))
	receive(t, s.left)
	assert.NoError(t, s.endpoint.Shutdown(soon(t)), "again")
}

func TestShutdownCancelsWhatIsLeft(t *testing.T) {
	t.Parallel()
	began := make(chan bool, 2)
	s := serve(t, waiting(began, nil), endpoint.Options{})
	ofSession := s.background(call, s.open(nil))
	body, h := the("tools/call", `"name":"t"`)
	h["Mcp-Name"] = "t"
	ofNone := s.background(body, h)
	receive(t, began)
	receive(t, began)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, s.endpoint.Shutdown(ctx), context.Canceled)
	assert.Contains(t, receive(t, ofSession), "shutting down")
	assert.Contains(t, receive(t, ofNone), "shutting down")
}

func TestAQuestionCanBeAnsweredDuringAShutdown(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		return nil, r.Ask(ctx, "ping", nil, nil)
	}}, endpoint.Options{})
	session := s.open(nil)
	in := events(t, s.post(call, session))
	question := in.event()
	down := make(chan error, 1)
	go func() { down <- s.endpoint.Shutdown(soon(t)) }()
	eventually(t, func() bool { return s.post(ping, session).StatusCode == http.StatusServiceUnavailable })
	s.post(`{"jsonrpc":"2.0","id":`+string(question.ID)+`,"result":{}}`, session)
	assert.NotNil(t, in.event().Result)
	assert.NoError(t, receive(t, down))
}

func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 1), make(chan bool)
	s := serve(t, waiting(began, proceed), endpoint.Options{Calls: 1})
	session := s.open(nil)
	answered := s.background(call, session)
	receive(t, began)
	response := s.post(ping, session)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
	assert.Equal(t, 503, code(t, response))
	close(proceed)
	receive(t, answered)
	eventually(t, func() bool { return s.post(ping, session).StatusCode == http.StatusOK })
}

func TestSessionsAndStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{Sessions: 1})
	session := s.open(nil)
	response := s.post(hello(legacy), nil)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Empty(t, response.Header.Get(endpoint.SessionHeader))
	_, leave := s.listen(session)
	assert.Equal(t, http.StatusServiceUnavailable, s.do(t.Context(), http.MethodGet, "", session).StatusCode)
	leave()
	eventually(t, func() bool {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		return s.do(ctx, http.MethodGet, "", session).StatusCode == http.StatusOK
	})
	s.do(t.Context(), http.MethodDelete, "", session)
	s.open(nil)
}

func TestIdleSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, proceed := make(chan bool, 1), make(chan bool)
		h := scripted(waiting(began, proceed))
		e := bounded(h, endpoint.Options{Idle: time.Hour})
		do := func(ctx context.Context, method, body, session string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "*/*")
			r.Header.Set(endpoint.SessionHeader, session)
			recorder := httptest.NewRecorder()
			e.ServeHTTP(recorder, r)
			return recorder
		}
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		session := do(t.Context(), http.MethodPost, hello(legacy), "").Header().Get(endpoint.SessionHeader)
		for range 3 { // whoever says something is not idle
			pass(50 * time.Minute)
			assert.Equal(t, http.StatusOK, do(t.Context(), http.MethodPost, ping, session).Code)
			pass(50 * time.Minute)
			assert.Equal(t, http.StatusAccepted, do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/x"}`, session).Code)
		}
		go do(t.Context(), http.MethodPost, call, session)
		pass(24 * time.Hour)
		assert.Empty(t, h.left, "nor who waits for an answer")
		close(proceed)
		ctx, leave := context.WithCancel(t.Context())
		listened := make(chan string, 1)
		go func() { listened <- do(ctx, http.MethodGet, "", session).Body.String() }()
		pass(24 * time.Hour)
		assert.Empty(t, h.left, "nor who listens")
		leave()
		assert.Greater(t, strings.Count(<-listened, ": still here\n\n"), 1000, "a silent stream has a heartbeat")
		pass(59 * time.Minute)
		assert.Empty(t, h.left)
		pass(30 * time.Minute)
		assert.Len(t, h.left, 1)
		assert.Equal(t, http.StatusNotFound, do(t.Context(), http.MethodPost, ping, session).Code)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}
