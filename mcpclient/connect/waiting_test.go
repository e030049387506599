package connect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireless is an HTTP server of protocol 2025-11-25 without a network, for
// tests in which time is not real.
type wireless struct {
	get  func(n int) (*http.Response, error) // the n-th GET
	call func() io.ReadCloser                // the event stream of tools/call

	mu      sync.Mutex
	gets    []time.Time
	replies chan string // what the client answered to requests
}

func (w *wireless) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		w.mu.Lock()
		w.gets = append(w.gets, time.Now())
		n := len(w.gets)
		w.mu.Unlock()
		return w.get(n)
	}
	if req.Method != http.MethodPost {
		return response(http.StatusOK, "", ""), nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	return w.post(body), nil
}

func (w *wireless) post(body []byte) *http.Response {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &message)
	switch message.Method {
	case "initialize":
		return response(http.StatusOK, "application/json", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}`, message.ID, legacy))
	case "tools/call":
		stream := response(http.StatusOK, "text/event-stream", "")
		stream.Body = w.call()
		return stream
	case "":
		w.replies <- string(body)
	}
	return response(http.StatusAccepted, "", "")
}

func response(status int, contentType, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}
}

func (w *wireless) times() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.gets...)
}

func (w *wireless) open(t *testing.T, opts ...connect.Option) client.MCPClient {
	t.Helper()
	opts = append(opts, connect.WithProtocolVersion(legacy))
	c, err := connect.To(connect.HTTP{URL: "http://wireless/mcp", RoundTripper: w}, opts...).Open(t.Context())
	require.NoError(t, err)
	return c
}

func TestAServerInTroubleIsLeftAloneForLongerEachTime(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]func(int) (*http.Response, error){
		"no connection":              func(int) (*http.Response, error) { return nil, errors.New("refused") },
		"503":                        func(int) (*http.Response, error) { return response(503, "", ""), nil },
		"a stream that ends at once": func(int) (*http.Response, error) { return response(200, "text/event-stream", ""), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &wireless{get: get}
				c := w.open(t, connect.WithListening())
				<-time.After(time.Hour)
				require.NoError(t, c.Close())
				synctest.Wait()
				at := w.times()
				assert.Greater(t, len(at), 55, "it is tried for ever")
				assert.Less(t, len(at), 140, "at most every half a minute in the end")
				assert.Less(t, at[1].Sub(at[0]), 4*time.Second, "and soon at first")
			})
		})
	}
}

func TestAStreamThatLastedIsOpenedAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wireless{get: func(int) (*http.Response, error) {
			reader, writer := io.Pipe()
			time.AfterFunc(time.Minute, func() { _ = writer.Close() })
			stream := response(200, "text/event-stream", "")
			stream.Body = reader
			return stream, nil
		}}
		c := w.open(t, connect.WithListening())
		<-time.After(10*time.Minute + 30*time.Second)
		require.NoError(t, c.Close())
		assert.Len(t, w.times(), 11)
		<-time.After(time.Minute) // for the last pipe's end
	})
}

type elicitFunc func(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error)

func (f elicitFunc) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return f(ctx, r)
}

const question = "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"sure?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n"

// mcp-go v1.2.1 gives a handler 30 seconds.
func TestAPersonMayTakeTenMinutesToAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		w := &wireless{call: func() io.ReadCloser { return reader }, replies: make(chan string, 1)}
		slowly := elicitFunc(func(ctx context.Context, _ mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
			<-time.After(10 * time.Minute)
			return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}}, ctx.Err()
		})
		c := w.open(t, connect.WithClientOptions(client.WithElicitationHandler(slowly)))
		go func() {
			_, _ = io.Copy(writer, bytes.NewBufferString(question))
			if reply := <-w.replies; assert.Contains(t, reply, `"action":"accept"`) {
				_, _ = io.WriteString(writer, "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n\n")
			}
			_ = writer.Close()
		}()
		began := time.Now()
		_, err := c.CallTool(t.Context(), callOf("search"))
		require.NoError(t, err)
		assert.Equal(t, 10*time.Minute, time.Since(began))
		require.NoError(t, c.Close())
	})
}

func TestWhoGivesUpACallIsNoLongerAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		w := &wireless{call: func() io.ReadCloser { return reader }, replies: make(chan string, 1)}
		asked, gaveUp := make(chan bool), make(chan error, 1)
		never := elicitFunc(func(ctx context.Context, _ mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
			close(asked)
			<-ctx.Done()
			gaveUp <- ctx.Err()
			return nil, ctx.Err()
		})
		c := w.open(t, connect.WithClientOptions(client.WithElicitationHandler(never)))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = io.WriteString(writer, question)
			<-asked
			cancel()
		}()
		_, err := c.CallTool(ctx, callOf("search"))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, <-gaveUp, context.Canceled)
		assert.Contains(t, <-w.replies, `"code":-32800`)
		require.NoError(t, c.Close())
		_ = writer.Close()
	})
}
