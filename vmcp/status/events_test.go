package status_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follower reads a stream of events.
type follower struct {
	lines chan string // closed at the end of the stream
}

// follow runs the handler without a network, for [synctest].
func follow(ctx context.Context, b *status.Board) follower {
	f := follower{make(chan string, 10_000)}
	go func() {
		defer close(f.lines)
		status.Handler(b, status.Options{}).ServeHTTP(&lineWriter{header: http.Header{}, lines: f.lines},
			httptest.NewRequest(http.MethodGet, "/status/events", nil).WithContext(ctx))
	}()
	return f
}

// lineWriter hands on what is written and flushed, in lines.
type lineWriter struct {
	header http.Header
	text   string
	lines  chan<- string
}

func (w *lineWriter) Header() http.Header { return w.header }

func (w *lineWriter) WriteHeader(int) {}

func (w *lineWriter) Write(text []byte) (int, error) {
	w.text += string(text)
	return len(text), nil
}

func (w *lineWriter) Flush() {
	for line := range strings.Lines(w.text) {
		w.lines <- strings.TrimSuffix(line, "\n")
	}
	w.text = ""
}

// events are the data of what has come so far, and how often the stream has
// shown that it lives.
func (f follower) events() (events []string, beats int) {
	synctest.Wait()
	var data strings.Builder
	for len(f.lines) > 0 {
		switch line := <-f.lines; {
		case line == "" && data.Len() > 0:
			events = append(events, data.String())
			data.Reset()
		case strings.HasPrefix(line, ":"):
			beats++
		default:
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				data.WriteString(text + "\n")
			}
		}
	}
	return events, beats
}

func TestAStreamTellsWhatIsKnownAndEachChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		b := board(fleet(time.Now()))
		f := follow(ctx, b)
		events, _ := f.events()
		require.Len(t, events, 1)
		assert.Contains(t, events[0], "1 of 5 backends ready")

		<-time.After(time.Minute)
		events, beats := f.events()
		assert.Empty(t, events, "nothing has changed")
		assert.Equal(t, 3, beats)

		b.Update(vmcp.BackendReport{ID: "drawio", State: vmcp.Ready, Since: time.Now()})
		events, _ = f.events()
		require.Len(t, events, 1)
		assert.Contains(t, events[0], "2 of 5 backends ready")

		for i := range 100 {
			b.SetSessions(i + 1)
		}
		<-time.After(time.Second)
		events, _ = f.events()
		require.Len(t, events, 1, "a burst is one more event")
		assert.Contains(t, events[0], "100 sessions")

		leave()
		synctest.Wait()
		_, open := <-f.lines
		assert.False(t, open, "the stream ends when its reader leaves")
	})
}

func TestStreamsEndWhenTheBoardIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := board(fleet(time.Now()))
		f := follow(t.Context(), b)
		<-time.After(time.Second)
		require.NoError(t, b.Close())
		f.events()
		_, open := <-f.lines
		assert.False(t, open)
		require.NoError(t, b.Close(), "once more does no harm")
	})
}

func TestWhatAServerSaysCannotForgeAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := board(hostile(time.Now()))
		f := follow(t.Context(), b)
		events, _ := f.events()
		require.Len(t, events, 1)
		assert.NotContains(t, events[0], "\r")
		assert.Contains(t, events[0], `id="facts"`, "it is whole")
		wellFormed(t, "<main>"+strings.ReplaceAll(events[0], " hidden>", ">")+"</main>")
		require.NoError(t, b.Close())
	})
}

func TestThereIsAnEndToHowManyCanFollow(t *testing.T) {
	t.Parallel()
	b := board(fleet(time.Now()))
	server := httptest.NewServer(status.Handler(b, status.Options{}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	follow := func() *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/status/events", nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, answer.Body.Close()) })
		return answer
	}
	for range 64 {
		answer := follow()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	}
	refused := follow()
	assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	assert.Equal(t, "30", refused.Header.Get("Retry-After"))
}

func TestAStreamOutlivesTheServersTimeForAnAnswer(t *testing.T) {
	t.Parallel()
	b := board(fleet(time.Now()))
	server := httptest.NewUnstartedServer(status.Handler(b, status.Options{}))
	server.Config.WriteTimeout = time.Nanosecond
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	answer, err := server.Client().Get(server.URL + "/status/events")
	require.NoError(t, err)
	defer answer.Body.Close()
	b.SetSessions(4711)
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "4711 sessions") {
			return
		}
	}
	t.Error("the stream has ended", lines.Err())
}
