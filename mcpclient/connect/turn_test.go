package connect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strict is an HTTP server without a network of protocol 2025-06-18 that refuses
// what it is asked before its time.
type strict struct {
	every  time.Duration                                          // between two requests that pass
	refuse func(method string, id json.RawMessage) *http.Response // instead of passing; nil passes

	mu     sync.Mutex
	last   time.Time
	passed []string // methods
	asked  int
}

func (s *strict) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return response(http.StatusMethodNotAllowed, "", ""), nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if !s.last.IsZero() && time.Since(s.last) < s.every {
		return tooSoon("4", message.ID), nil
	}
	if s.refuse != nil {
		if refusal := s.refuse(message.Method, message.ID); refusal != nil {
			return refusal, nil
		}
	}
	s.last = time.Now()
	s.passed = append(s.passed, message.Method)
	return s.answer(message.Method, message.ID), nil
}

func (s *strict) answer(method string, id json.RawMessage) *http.Response {
	result := `"error":{"code":-32601,"message":"Method not found"}`
	switch method {
	case "initialize":
		result = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case "tools/list":
		result = `"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `"result":{"content":[]}`
	}
	if id == nil {
		return response(http.StatusAccepted, "", "")
	}
	return response(http.StatusOK, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, result))
}

// tooSoon is a 429 whose body is a JSON-RPC error with the request's id.
func tooSoon(after string, id json.RawMessage) *http.Response {
	if id == nil {
		id = json.RawMessage("null")
	}
	refusal := response(http.StatusTooManyRequests, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"slow down"}}`, id))
	refusal.Header.Set("Retry-After", after)
	return refusal
}

func TestAServerThatAsksToWaitIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &strict{every: 4 * time.Second}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c, err := connect.Open(ctx, connect.HTTP{URL: "http://strict/mcp", RoundTripper: server})
		require.NoError(t, err)
		_, err = c.ListTools(ctx, mcp.ListToolsRequest{})
		require.NoError(t, err)
		_, err = c.CallTool(ctx, callOf("t"))
		require.NoError(t, err)
		assert.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"}, server.passed, "nothing passes twice")
		assert.Equal(t, 16*time.Second, time.Since(began))
		assert.LessOrEqual(t, server.asked, 10, "and nothing follows in the same instant where the last was refused")
		require.NoError(t, c.Close())
	})
}

func TestTheTimeThatAServerAsksForIsNoneOfTheHandshakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		times := 0
		server := &strict{refuse: func(method string, id json.RawMessage) *http.Response {
			if times++; method == "initialize" && times < 6 {
				return tooSoon("20", id)
			}
			return nil
		}}
		c, err := connect.Open(t.Context(), connect.HTTP{URL: "http://strict/mcp", RoundTripper: server})
		require.NoError(t, err)
		require.NoError(t, c.Close())
	})
}

func TestWhatCannotBeWaitedForIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &strict{refuse: func(_ string, id json.RawMessage) *http.Response { return tooSoon("3600", id) }}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := connect.Open(ctx, connect.HTTP{URL: "http://strict/mcp", RoundTripper: server})
		read := failure.Of(err)
		assert.Equal(t, failure.RateLimited, read.Kind)
		assert.Equal(t, time.Hour, read.RetryAfter)
		assert.True(t, read.NotSent())
		require.ErrorContains(t, err, "429")
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 1, server.asked, "initialize does not follow in the same instant")
	})
}

// A 503 says nothing about what became of the request.
func TestOnlyWhatMayBeDoneTwiceIsSentAgainAfterA503(t *testing.T) {
	t.Parallel()
	for method, again := range map[string]bool{"tools/list": true, "tools/call": false} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				busy := true
				server := &strict{refuse: func(asked string, _ json.RawMessage) *http.Response {
					if asked != method || !busy {
						return nil
					}
					busy = false
					refusal := response(http.StatusServiceUnavailable, "text/plain", "busy")
					refusal.Header.Set("Retry-After", time.Now().Add(5*time.Second).UTC().Format(http.TimeFormat))
					refusal.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
					return refusal
				}}
				c, err := connect.Open(t.Context(), connect.HTTP{URL: "http://strict/mcp", RoundTripper: server})
				require.NoError(t, err)
				began := time.Now()
				if method == "tools/list" {
					_, err = c.ListTools(t.Context(), mcp.ListToolsRequest{})
				} else {
					_, err = c.CallTool(t.Context(), callOf("t"))
				}
				if again {
					require.NoError(t, err)
					assert.Equal(t, 5*time.Second, time.Since(began), "a date is a time too")
				} else {
					require.ErrorContains(t, err, "503")
					assert.Zero(t, time.Since(began))
				}
				require.NoError(t, c.Close())
			})
		})
	}
}
