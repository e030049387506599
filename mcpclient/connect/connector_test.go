package connect_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set  connect.Timeouts
		pin  string
		took time.Duration
	}{
		"the defaults":                     {connect.Timeouts{}, "", 5*time.Second + 10*time.Second + 10*time.Second},
		"another probe":                    {connect.Timeouts{Probe: time.Second}, "", 1*time.Second + 10*time.Second + 10*time.Second},
		"another handshake":                {connect.Timeouts{Handshake: time.Second}, "", 5*time.Second + 1*time.Second + 1*time.Second},
		"negative ones are the defaults":   {connect.Timeouts{Probe: -1, Handshake: -1, Verification: -1}, "", 25 * time.Second},
		"an older pin costs no probe":      {connect.Timeouts{}, legacy, 10 * time.Second},
		"a pin of the newest, probe in it": {connect.Timeouts{}, modern, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := badserver.New(with(mute(), "initialize", badserver.Answer{Hang: true}))
				defer s.Close()
				began := time.Now()
				_, err := connect.To(s, connect.WithTimeouts(test.set), connect.WithProtocolVersion(test.pin)).Open(t.Context())
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, "did not answer in time")
				assert.Equal(t, test.took, time.Since(began))
			})
		})
	}
}

func TestNoOptionMeansTheDefaults(t *testing.T) {
	t.Parallel()
	s := badserver.New(impatient())
	c, err := connect.To(s, nil, connect.WithLogger(nil), connect.WithProtocolVersion("")).Open(soon(t))
	require.NoError(t, err, "the WARN goes nowhere")
	require.NoError(t, c.Close())
}

func TestNoVerificationMeansTheDefault(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(modern))
	c, err := connect.To(s).OpenVerifying(soon(t), nil)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"server/discover", "tools/list"}, asked(s))
}

func TestAConnectorOpensManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]badserver.Script{"honest": honest(modern), "fickle": fickle(), "impatient": impatient()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := &counted{Target: badserver.New(script)}
			connector := connect.To(target, connect.WithLogger((&mcptest.Journal{}).Logger()))
			clients := make(chan *mcpclient.Client, 20)
			var opening sync.WaitGroup
			for range cap(clients) {
				opening.Go(func() {
					c, err := connector.Open(context.Background())
					if assert.NoError(t, err) {
						clients <- c
					}
				})
			}
			opening.Wait()
			close(clients)
			assert.EqualValues(t, 20, target.open.Load())
			for c := range clients {
				assert.Equal(t, []string{"search"}, toolsOf(t, c))
				require.NoError(t, c.Close())
			}
			assert.Zero(t, target.open.Load())
		})
	}
}

func TestTheCallersHeadersMayChangeAfterwards(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*endpoint, func(map[string]string) connect.Target){
		"HTTP": func(t *testing.T) (*endpoint, func(map[string]string) connect.Target) {
			e := overHTTP(t, badserver.New(honest(legacy)))
			return e, func(headers map[string]string) connect.Target { return connect.HTTP{URL: e.URL, Headers: headers} }
		},
		"SSE": func(t *testing.T) (*endpoint, func(map[string]string) connect.Target) {
			e := overSSE(t, badserver.New(honest(legacy)))
			return e, func(headers map[string]string) connect.Target { return connect.SSE{URL: e.URL, Headers: headers} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, target := open(t)
			headers := map[string]string{"X-Tenant": "one"}
			c, err := connect.Open(soon(t), target(headers))
			require.NoError(t, err)
			headers["X-Tenant"] = "two"
			toolsOf(t, c)
			require.NoError(t, c.Close())
			for _, request := range e.received() {
				assert.Equal(t, "one", request.Header.Get("X-Tenant"), request.Method)
			}
		})
	}
}

// silent is an SSE server in a RoundTripper that accepts and never answers.
type silent struct{ events string }

func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: req}
	if req.Method == http.MethodGet {
		body, stream := io.Pipe()
		go func() {
			_, _ = io.WriteString(stream, s.events)
			<-req.Context().Done()
			_ = stream.CloseWithError(req.Context().Err())
		}()
		resp.StatusCode, resp.Body = http.StatusOK, body
		resp.Header.Set("Content-Type", "text/event-stream")
	}
	return resp, nil
}

// mcp-go lets a timer of its own race with the context, and says so in a text.
func TestATimeOutOverSSEHasItsType(t *testing.T) {
	t.Parallel()
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			target := connect.SSE{URL: "http://host/sse", RoundTripper: silent{"event: endpoint\ndata: ?id=1\n\n"}}
			_, err := connect.Open(t.Context(), target)
			var failed *connect.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "handshake", failed.Stage)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

func TestAStartOverSSEMayTakeAsLongAsAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connector := connect.To(connect.SSE{URL: "http://host/sse", RoundTripper: silent{"no endpoint"}},
			connect.WithTimeouts(connect.Timeouts{Probe: time.Second, Handshake: time.Minute}))
		began := time.Now()
		_, err := connector.Open(t.Context())
		var failed *connect.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "start", failed.Stage)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}

func TestATimeOutOfACallOverSSEHasItsType(t *testing.T) {
	t.Parallel()
	s := badserver.New(with(honest(legacy), "tools/call", badserver.Answer{Hang: true}))
	c, err := connect.Open(soon(t), connect.SSE{URL: overSSE(t, s).URL})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(soon(t), 20*time.Millisecond)
	defer cancel()
	_, err = c.CallTool(ctx, callOf("search"))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	ctx, cancel = context.WithCancel(soon(t))
	before := s.Count("tools/call") // on a slow machine the first may never have been sent
	go func() {
		_ = s.Await(soon(t), "tools/call", before+1)
		cancel()
	}()
	_, err = c.CallTool(ctx, callOf("search"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestAServerOfAnUnknownProtocolIsAnError(t *testing.T) {
	t.Parallel()
	_, err := connect.Open(soon(t), &counted{Target: badserver.New(honest("2020-02-02"))})
	require.Error(t, err)
	assert.True(t, mcp.IsUnsupportedProtocolVersion(err))
	assert.ErrorContains(t, err, "2020-02-02")
	assert.True(t, strings.HasPrefix(err.Error(), "connect to *connect_test.counted: the handshake failed: "))
}
