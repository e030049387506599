package endpoint_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheGetStreamHasWhatBelongsToNoRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	client := s.client("initialize")
	client.Notify(note("notifications/message", map[string]any{"data": "early"}))
	in, leave := s.listen(session)
	defer leave()
	client.Notify(note("notifications/message", map[string]any{"data": "late"}))
	assert.Equal(t, "early", in.event().Params["data"])
	assert.Equal(t, "late", in.event().Params["data"])

	answered := make(chan any, 1)
	go func() {
		var into map[string]any
		err := client.Ask(t.Context(), "roots/list", map[string]any{"a": "<"}, &into)
		assert.NoError(t, err)
		answered <- into["roots"]
	}()
	question := in.event()
	assert.Equal(t, "roots/list", question.Method)
	assert.Equal(t, "<", question.Params["a"])
	reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":"here"}}`, question.ID)
	assert.Equal(t, http.StatusAccepted, s.post(reply, session).StatusCode)
	assert.Equal(t, "here", receive(t, answered))
	assert.Equal(t, http.StatusAccepted, s.post(reply, session).StatusCode, "late is no fault")

	require.Equal(t, http.StatusNoContent, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
	assert.Empty(t, in.next(), "the stream ends with its session")
	client.Notify(note("notifications/message", nil))
	assert.ErrorIs(t, client.Ask(t.Context(), "ping", nil, nil), endpoint.ErrCannotAsk)
}

func TestEachMessageGoesToOneGetStream(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	got := make(chan string, 200)
	for range 3 {
		in, leave := s.listen(session)
		defer leave()
		go func() {
			for data := in.next(); data != ""; data = in.next() {
				got <- data
			}
		}()
	}
	seen := map[string]bool{}
	for i := range 100 {
		s.client("initialize").Notify(note("notifications/message", map[string]any{"data": i}))
		seen[receive(t, got)] = true
	}
	assert.Len(t, seen, 100)
	assert.Empty(t, got)
}

func TestAStreamThatLeavesTakesNothingAlong(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	client := s.client("initialize")
	_, leave := s.listen(session)
	leave()
	eventually(t, func() bool { return client.IdleFor(time.Now().Add(time.Hour)) > 0 })
	client.Notify(note("notifications/message", map[string]any{"data": "kept"}))
	in, leave := s.listen(session)
	defer leave()
	assert.Equal(t, "kept", in.event().Params["data"])
}

func TestWhatWaitsIsBoundedAndOnlyTheLatestNewsIsKept(t *testing.T) {
	t.Parallel()
	var logged syncBuffer
	s := serve(t, nil, endpoint.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	session := s.open(nil)
	client := s.client("initialize")
	withdrawn, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 2)
	go func() { asked <- client.Ask(withdrawn, "withdrawn", nil, nil) }()
	go func() { asked <- client.Ask(t.Context(), "kept", nil, nil) }()
	for i := range 1000 {
		client.Notify(note("notifications/tools/list_changed", nil))
		client.Notify(note("notifications/resources/updated", map[string]any{"uri": fmt.Sprint("res://", i%2)}))
	}
	cancel()
	// Whichever question came first, the withdrawn one is over now.
	require.ErrorIs(t, receive(t, asked), context.Canceled)
	eventually(t, func() bool {
		client.Notify(note("notifications/message", map[string]any{"data": "filler"}))
		return strings.Contains(logged.String(), "message_lost")
	})
	for i := range 300 {
		client.Notify(note("notifications/message", map[string]any{"data": i}))
	}
	in, leave := s.listen(session)
	defer leave()
	counted := map[string]int{}
	for last := false; !last || counted["kept"] == 0; { // somebody waits for that
		e := in.event()
		counted[e.Method]++
		last = last || e.Params["data"] == 299.0
	}
	assert.InDelta(t, 256, counted["notifications/message"], 1)
	assert.Zero(t, counted["withdrawn"])
	assert.Equal(t, 1, strings.Count(logged.String(), "message_lost"), "said once")
	require.Equal(t, http.StatusNoContent, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
	assert.ErrorIs(t, receive(t, asked), endpoint.ErrCannotAsk)
}

func TestOnlyTheLatestNewsOfEachSubjectIsKept(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	client := s.client("initialize")
	for i := range 100 {
		client.Notify(note("notifications/tools/list_changed", nil))
		client.Notify(note("notifications/resources/list_changed", nil))
		client.Notify(note("notifications/resources/updated", map[string]any{"uri": fmt.Sprint("res://", i%2)}))
	}
	client.Notify(note("notifications/message", nil))
	in, leave := s.listen(session)
	defer leave()
	counted := map[string]int{}
	for e := in.event(); e.Method != "notifications/message"; e = in.event() {
		counted[e.Method]++
	}
	assert.Equal(t, map[string]int{
		"notifications/tools/list_changed": 1, "notifications/resources/list_changed": 1, "notifications/resources/updated": 2,
	}, counted)
}

func TestAQuestionDuringARequestGoesOnItsStream(t *testing.T) {
	t.Parallel()
	for _, method := range []mcp.MCPMethod{"sampling/createMessage", "elicitation/create", "roots/list"} {
		s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
			r.Notify(note("notifications/progress", nil))
			var into map[string]any
			if err := r.Ask(ctx, method, nil, &into); err != nil {
				return nil, err
			}
			return into, nil
		}}, endpoint.Options{})
		session := s.open(nil)
		in := events(t, s.post(call, session))
		assert.Equal(t, "notifications/progress", in.event().Method)
		question := in.event()
		assert.Equal(t, string(method), question.Method)
		assert.Equal(t, http.StatusAccepted, s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"is":"so"}}`, question.ID), session).StatusCode)
		assert.Equal(t, map[string]any{"is": "so"}, in.event().Result)
		assert.Empty(t, in.next(), "the answer ends the stream")
	}
}

func TestAClientsErrorIsTheAskersFailure(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]*endpoint.Failure{
		`"error":{"code":-1,"message":"user says no","data":[1]}`: {Code: -1, Message: "user says no", Data: []any{1.0}},
		`"error":"a bare string"`:                                 {Message: "a bare string"},
		`"result":"of another type"`:                              nil,
	} {
		failed := make(chan error, 1)
		s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
			failed <- r.Ask(ctx, "roots/list", nil, &mcp.ListRootsResult{})
			return nil, nil
		}}, endpoint.Options{})
		session := s.open(nil)
		question := events(t, s.post(call, session)).event()
		s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, question.ID, said), session)
		var failure *endpoint.Failure
		err := receive(t, failed)
		if require.Error(t, err); want == nil {
			assert.NotErrorAs(t, err, &failure)
			continue
		}
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, want.Message, failure.Message)
		assert.Equal(t, want.Data, failure.Data)
	}
}

func TestWhoStopsWaitingTellsTheClient(t *testing.T) {
	t.Parallel()
	stop := make(chan bool)
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		go func() { <-stop; cancel(assert.AnError) }()
		assert.ErrorIs(t, r.Ask(ctx, "roots/list", nil, nil), assert.AnError)
		return nil, nil
	}}, endpoint.Options{})
	in := events(t, s.post(call, s.open(nil)))
	question := in.event()
	close(stop)
	told := in.event()
	assert.Equal(t, "notifications/cancelled", told.Method)
	assert.Equal(t, string(question.ID), fmt.Sprint(told.Params["requestId"]))
	assert.NotNil(t, in.event().Result)
}

func TestWithoutAStreamAQuestionGoesToTheGetStream(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		r.Notify(note("notifications/message", nil))
		return nil, r.Ask(ctx, "ping", nil, nil)
	}}, endpoint.Options{})
	session := s.open(nil)
	in, leave := s.listen(session)
	defer leave()
	answered := make(chan string, 1)
	go func() {
		answered <- text(t, s.post(call, headers{endpoint.SessionHeader: session[endpoint.SessionHeader], "Accept": "application/json"}))
	}()
	assert.Equal(t, "notifications/message", in.event().Method)
	s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, in.event().ID), session)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, receive(t, answered))
}

func TestAfterItsAnswerARequestsNotificationsAreTheClients(t *testing.T) {
	t.Parallel()
	kept := make(chan *endpoint.Request, 1)
	s := serve(t, map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
		kept <- r
		return nil, nil
	}}, endpoint.Options{})
	session := s.open(nil)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, text(t, s.post(call, session)))
	receive(t, kept).Notify(note("notifications/message", map[string]any{"data": "late"}))
	in, leave := s.listen(session)
	defer leave()
	assert.Equal(t, "late", in.event().Params["data"])
}

func TestEverythingSaidAheadComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
		for i := range 200 {
			r.Notify(note("notifications/progress", map[string]any{"progress": i, "message": "a\nb"}))
		}
		return nil, nil
	}}, endpoint.Options{})
	in := events(t, s.post(call, s.open(nil)))
	for i := range 200 {
		require.InDelta(t, float64(i), in.event().Params["progress"], 0)
	}
	assert.NotNil(t, in.event().Result)
}

func TestASlowClientDoesNotHoldUpWhoNotifies(t *testing.T) {
	t.Parallel()
	notified := make(chan bool, 1)
	big := strings.Repeat("x", 1<<20)
	s := serve(t, map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
		for range 400 {
			r.Notify(note("notifications/message", map[string]any{"data": big}))
			r.Client.Notify(note("notifications/message", map[string]any{"data": big}))
		}
		notified <- true
		return nil, nil
	}}, endpoint.Options{})
	session := s.open(nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
		endpoint.SessionHeader, session[endpoint.SessionHeader], len(call), call)
	require.NoError(t, err)
	receive(t, notified) // though nothing is read
	require.NoError(t, conn.Close())
}

// plain hides that a writer can flush.
type plain struct{ http.ResponseWriter }

// wrapped shows it only to those who unwrap.
type wrapped struct{ under http.ResponseWriter }

func (w wrapped) Header() http.Header                { return w.under.Header() }
func (w wrapped) Write(p []byte) (int, error)        { return w.under.Write(p) }
func (w wrapped) WriteHeader(status int)             { w.under.WriteHeader(status) }
func (w wrapped) Unwrap() http.ResponseWriter        { return w.under }
func hide(w http.ResponseWriter) http.ResponseWriter { return plain{w} }
func wrap(w http.ResponseWriter) http.ResponseWriter { return wrapped{wrapped{w}} }

func TestWritersOfMiddlewares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		around func(http.ResponseWriter) http.ResponseWriter
		media  string
		get    int
	}{
		"one that hides flushing": {hide, "application/json", http.StatusMethodNotAllowed},
		"one that unwraps":        {wrap, "text/event-stream", http.StatusOK},
	} {
		e := bounded(scripted(map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
			r.Notify(note("notifications/progress", nil))
			return nil, nil
		}}), endpoint.Options{})
		do := func(method, body, session string) *httptest.ResponseRecorder {
			ctx, cancel := context.WithCancel(t.Context())
			r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set(endpoint.SessionHeader, session)
			if method == http.MethodGet {
				cancel() // at once
			}
			defer cancel()
			recorder := httptest.NewRecorder()
			e.ServeHTTP(c.around(recorder), r)
			return recorder
		}
		session := do(http.MethodPost, hello(legacy), "").Header().Get(endpoint.SessionHeader)
		called := do(http.MethodPost, call, session)
		assert.Equal(t, c.media, called.Header().Get("Content-Type"), name)
		assert.Contains(t, called.Body.String(), `"result":{}`, name)
		assert.Equal(t, c.get, do(http.MethodGet, "", session).Code, name)
		assert.NoError(t, e.Shutdown(t.Context()))
	}
}

// syncBuffer is a buffer for a logger.
type syncBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.String()
}
