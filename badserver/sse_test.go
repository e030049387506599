package badserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

func TestSSEStream(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET",
		badserver.Answer{Before: []json.RawMessage{notification("hello")}})})
	url := listenSSE(t, s)
	stream := openStream(t, url)
	assert.Equal(t, "event: endpoint", nextLine(t, stream))
	endpoint, ok := strings.CutPrefix(nextLine(t, stream), "data: ")
	require.True(t, ok)
	assert.Empty(t, nextLine(t, stream))
	assert.Equal(t, "event: message", nextLine(t, stream))
	assert.Contains(t, nextLine(t, stream), "hello")
	assert.Empty(t, nextLine(t, stream))

	got, err := post(t, url+endpoint, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	require.NoError(t, err)
	assert.Equal(t, said{202, got.header, ""}, got, "the POST is only accepted")
	assert.Equal(t, "event: message", nextLine(t, stream))
	assert.Equal(t, `data: {"jsonrpc":"2.0","id":1,"result":{}}`, nextLine(t, stream))

	requests := s.Requests()
	assert.Equal(t, []string{"GET", "ping"}, methods(requests))
	assert.Equal(t, "?sessionId="+requests[0].Connection, endpoint)
	assert.Equal(t, requests[0].Connection, requests[1].Connection)
}

func TestSSEEndpointWorksBehindAPrefix(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Name: "n"})
	mux := http.NewServeMux()
	mux.Handle("/a/", http.StripPrefix("/a", s.SSE()))
	endpoint := httptest.NewServer(mux)
	t.Cleanup(func() { _ = s.Close(); endpoint.Close() })
	tr, err := transport.NewSSE(endpoint.URL+"/a/sse", transport.WithHTTPClient(httpClient(t)), transport.WithSSELogger(quiet))
	require.NoError(t, err)
	assert.Equal(t, "n", initialize(t, start(t, tr)).ServerInfo.Name)
}

func TestSSEErrorStatusIsTheAnswerOfThePost(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Plain(503, "gone"))}
	c := start(t, dialSSE(t, badserver.New(script)))
	initialize(t, c)
	_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
	require.ErrorContains(t, err, "request failed with status 503: gone")
	require.NoError(t, c.Ping(soon(t)))
}

// The 404 of the stateless era belongs to streamable HTTP.
func TestSSEUnknownMethodIsOnTheStreamInBothEras(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		c := start(t, dialSSE(t, badserver.New(badserver.Script{Protocol: protocol})))
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		assert.ErrorIs(t, err, mcp.ErrMethodNotFound)
	}
}

func TestSSERefusals(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET", badserver.Answer{Status: 401}.Once())})
	url := listenSSE(t, s)
	for _, test := range []struct {
		name, verb, url, body string
		status                int
	}{
		{"a scripted status", "GET", url, "", 401},
		{"no session", "POST", url, listTools, 404},
		{"unknown session", "POST", url + "?sessionId=x", listTools, 404},
		{"no such verb", "DELETE", url, "", 405},
	} {
		got, err := do(t, test.verb, test.url, test.body)
		require.NoError(t, err)
		assert.Equal(t, test.status, got.status, test.name)
	}
	stream := openStream(t, url)
	nextLine(t, stream)
	got, err := post(t, url+strings.TrimPrefix(nextLine(t, stream), "data: "), "nonsense")
	require.NoError(t, err)
	assert.Equal(t, 400, got.status)
}

func TestSSETroubleBeforeTheEndpoint(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]badserver.Answer{
		"hang":  {Hang: true},
		"delay": {Delay: badserver.Duration(time.Hour)},
		"cut":   {Cut: true},
		"exit":  {Exit: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(badserver.Script{Answers: on("GET", answer.Once())})
			c := client.NewClient(dialSSE(t, s))
			t.Cleanup(func() { _ = c.Close() })
			ctx, cancel := context.WithCancel(soon(t))
			failed := make(chan error, 1)
			go func() { failed <- c.Start(ctx) }()
			require.NoError(t, s.Await(soon(t), "GET", 1))
			if answer.Hang || answer.Delay > 0 {
				cancel()
			}
			require.Error(t, receive(t, failed))
			cancel()
			if answer.Exit {
				require.Error(t, c.Start(soon(t)), "gone for good")
				return
			}
			// The client's stream lives as long as the context of Start.
			require.NoError(t, c.Start(soon(t)))
			initialize(t, c)
		})
	}
}

func TestSSESilenceBeforeTheEndpoint(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]badserver.Answer{
		"hang":  {Hang: true},
		"delay": {Delay: badserver.Duration(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := listenSSE(t, badserver.New(badserver.Script{Answers: on("GET", answer)}))
			request, err := http.NewRequestWithContext(brief(t), http.MethodGet, url, nil)
			require.NoError(t, err)
			_, err = httpClient(t).Do(request) //nolint:bodyclose // there is none
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestSSECutSendsHalf(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("ping", badserver.Answer{Cut: true})})
	url := listenSSE(t, s)
	stream := openStream(t, url)
	nextLine(t, stream)
	endpoint := strings.TrimPrefix(nextLine(t, stream), "data: ")
	nextLine(t, stream)
	got, err := post(t, url+endpoint, ping)
	require.NoError(t, err)
	assert.Equal(t, 202, got.status)
	rest, err := io.ReadAll(stream)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	whole := "event: message\ndata: " + pong + "\n"
	assert.Equal(t, whole[:len(whole)/2], string(rest))
}

// Pending answers end with the stream: the client leaves while one hangs and
// one is delayed, and goleak sees that nothing stays.
func TestSSEPendingAnswersEndWithTheStream(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: map[string][]badserver.Answer{
		"tools/list":   {{Hang: true}},
		"prompts/list": {{Delay: badserver.Duration(time.Hour)}},
	}})
	c := start(t, dialSSE(t, s))
	initialize(t, c)
	failed := make(chan error, 2)
	go func() { _, err := c.ListTools(context.Background(), mcp.ListToolsRequest{}); failed <- err }()
	go func() { _, err := c.ListPrompts(context.Background(), mcp.ListPromptsRequest{}); failed <- err }()
	require.NoError(t, s.Await(soon(t), "tools/list", 1))
	require.NoError(t, s.Await(soon(t), "prompts/list", 1))
	require.NoError(t, c.Close())
	assert.Error(t, receive(t, failed))
	assert.Error(t, receive(t, failed))
}

func TestSSECloseBreaksTheStream(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	c := start(t, dialSSE(t, s))
	lost := make(chan error, 1)
	c.OnConnectionLost(func(err error) { lost <- err })
	initialize(t, c)
	require.NoError(t, s.Close())
	assert.ErrorIs(t, receive(t, lost), io.ErrUnexpectedEOF)
}
