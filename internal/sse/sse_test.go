package sse_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcp-candor/candor/internal/sse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnEventOnTheWire(t *testing.T) {
	t.Parallel()
	for want, event := range map[string]sse.Event{
		"data: \n\n":                                {},
		"event: message\ndata: {}\n\n":              {Name: "message", Data: []byte("{}")},
		"retry: 1500\ndata: a\ndata: \ndata: b\n\n": {Retry: 1500 * time.Millisecond, Data: []byte("a\n\nb")},
	} {
		assert.Equal(t, "before"+want, string(event.Append([]byte("before"))))
	}
}

// slow is a writer that says which deadline a write had.
type slow struct {
	*httptest.ResponseRecorder
	deadline time.Time
	had      []time.Time
	flushed  int
	broken   error
}

func (s *slow) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }
func (s *slow) FlushError() error                   { s.flushed++; return nil }
func (s *slow) Write(data []byte) (int, error) {
	s.had = append(s.had, s.deadline)
	if s.broken != nil {
		return 0, s.broken
	}
	return s.ResponseRecorder.Write(data)
}

func TestEachWriteHasATimeOutAndIsSentAtOnce(t *testing.T) {
	t.Parallel()
	client := &slow{ResponseRecorder: httptest.NewRecorder()}
	w := sse.NewWriter(client, time.Minute)
	w.Open()
	require.NoError(t, w.Send(sse.Event{Data: []byte("x")}))
	require.NoError(t, w.Beat())
	assert.Equal(t, "data: x\n\n: still here\n\n", client.Body.String())
	assert.Equal(t, "text/event-stream", client.Header().Get("Content-Type"))
	assert.Equal(t, "no", client.Header().Get("X-Accel-Buffering"))
	assert.Equal(t, "no-cache, no-transform", client.Header().Get("Cache-Control"))
	assert.Equal(t, 2, client.flushed)
	require.Len(t, client.had, 2)
	assert.WithinDuration(t, time.Now().Add(time.Minute), client.had[0], 10*time.Second)
	assert.True(t, client.deadline.IsZero(), "a silent stream has none")
}

func TestAWriteThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client has gone")
	w := sse.NewWriter(&slow{ResponseRecorder: httptest.NewRecorder(), broken: gone}, time.Minute)
	require.ErrorIs(t, w.Beat(), gone)
}

func TestACacheControlOfTheServerIsKept(t *testing.T) {
	t.Parallel()
	header := http.Header{"Cache-Control": {"no-store"}}
	sse.Header(header)
	assert.Equal(t, "no-store", header.Get("Cache-Control"))
}

// bare can only be written to, and wrapping hides nothing.
type (
	bare     struct{ http.ResponseWriter }
	wrapping struct{ http.ResponseWriter }
)

func (w wrapping) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestWhetherAWriterCanStream(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	for want, writers := range map[bool][]http.ResponseWriter{
		true:  {recorder, wrapping{wrapping{recorder}}},
		false: {bare{recorder}, wrapping{bare{recorder}}},
	} {
		for _, w := range writers {
			assert.Equal(t, want, sse.NewWriter(w, time.Minute).CanStream(), "%T", w)
		}
	}
	require.NoError(t, sse.NewWriter(bare{recorder}, time.Minute).Beat(), "what cannot stream can be written to")
}
