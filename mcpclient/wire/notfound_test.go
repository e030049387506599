package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

const notFoundTwo = `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`

func TestNotFoundIsRevealed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ call, body string }{
		"number id":                       {callTwo, notFoundTwo},
		"string id":                       {`{"id":"a-1","method":"x"}`, `{"id":"a-1","error":{"code":-32601,"message":"no"}}`},
		"string id spelt with an escape":  {`{"id":"a","method":"x"}`, `{"id":"\u0061","error":{"code":-32601}}`},
		"number id spelt as a float":      {`{"id":2,"method":"x"}`, `{"id":2.0,"error":{"code":-32601}}`},
		"number id beyond 2^53":           {`{"id":9007199254740993,"method":"x"}`, `{"id":9007199254740993,"error":{"code":-32601}}`},
		"negative id":                     {`{"id":-3,"method":"x"}`, `{"id":-3,"error":{"code":-32601}}`},
		"null result beside the error":    {callTwo, `{"id":2,"result":null,"error":{"code":-32601}}`},
		"white space around":              {callTwo, "\r\n " + notFoundTwo + "\n"},
		"a body of exactly the peek size": {callTwo, notFoundTwo + strings.Repeat(" ", 64<<10-len(notFoundTwo))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body, err := said(404, tt.body).with("Content-Type", "text/plain").roundTrip(streamablePost(t, tt.call))
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, resp.StatusCode)
			assert.Equal(t, "200 OK", resp.Status)
			assert.Equal(t, jsonType, resp.Header.Get("Content-Type"))
			assert.Equal(t, int64(-1), resp.ContentLength)
			assert.Equal(t, tt.body, readAndClose(t, resp))
			assert.Equal(t, int64(1), body.closes.Load())
		})
	}
}

func TestMethodNotFoundToANotificationIsAStatusError(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no id":   `{"error":{"code":-32601,"message":"Method not found"}}`,
		"null id": `{"id":null,"error":{"code":-32601}}`,
		"some id": `{"id":2,"error":{"code":-32601}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tracked, err := said(404, body).roundTrip(streamablePost(t, `{"method":"notifications/cancelled"}`))
			var status *wire.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, http.StatusNotFound, status.StatusCode)
			assert.Equal(t, int64(1), tracked.closes.Load())
		})
	}
}

func TestNotFoundPassesUntouched(t *testing.T) {
	t.Parallel()
	const otherID = `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`
	tests := map[string]struct{ call, body, contentType string }{
		"id of another request":           {callTwo, otherID, jsonType},
		"string where the id is a number": {callTwo, `{"id":"2","error":{"code":-32601}}`, jsonType},
		"number where the id is a string": {`{"id":"2","method":"x"}`, notFoundTwo, jsonType},
		"neighbouring ids beyond 2^53":    {`{"id":9007199254740992,"method":"x"}`, `{"id":9007199254740993,"error":{"code":-32601}}`, jsonType},
		"null id":                         {callTwo, `{"id":null,"error":{"code":-32601}}`, jsonType},
		"no id":                           {callTwo, `{"error":{"code":-32601}}`, jsonType},
		"id after which null wins":        {callTwo, `{"id":2,"id":null,"error":{"code":-32601}}`, jsonType},
		"id that is an object":            {callTwo, `{"id":{},"error":{"code":-32601}}`, jsonType},
		"another error to a notification": {`{"method":"notifications/initialized"}`, `{"error":{"code":-32001}}`, jsonType},
		"request body without a method":   {`{"id":2}`, notFoundTwo, jsonType},
		"request body that is a batch":    {`[` + callTwo + `]`, notFoundTwo, jsonType},
		"request body that is no JSON":    {`grant_type=refresh_token`, notFoundTwo, jsonType},
		"another code":                    {callTwo, `{"id":2,"error":{"code":-32001,"message":"Session not found"}}`, jsonType},
		"code as a string":                {callTwo, `{"id":2,"error":{"code":"-32601"}}`, jsonType},
		"error as a string":               {callTwo, `{"id":2,"error":"Method not found"}`, jsonType},
		"a result as well":                {callTwo, `{"id":2,"result":{},"error":{"code":-32601}}`, jsonType},
		"a batch":                         {callTwo, `[` + notFoundTwo + `]`, jsonType},
		"two answers":                     {callTwo, notFoundTwo + notFoundTwo, jsonType},
		"an event stream":                 {callTwo, notFoundTwo, "text/event-stream; charset=utf-8"},
		"plain text":                      {callTwo, "404 page not found\n", "text/plain"},
		"an empty body":                   {callTwo, "", jsonType},
		"longer than the peek":            {callTwo, notFoundTwo + strings.Repeat(" ", 64<<10), jsonType},
		"much longer than the peek":       {callTwo, strings.Repeat("0123456789abcdef", 40<<10), jsonType},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body, err := said(404, tt.body).with("Content-Type", tt.contentType).roundTrip(streamablePost(t, tt.call))
			require.NoError(t, err)
			assert.Equal(t, http.StatusNotFound, resp.StatusCode)
			assert.Equal(t, "Not Found", resp.Status)
			assert.Equal(t, tt.contentType, resp.Header.Get("Content-Type"))
			assert.Equal(t, tt.body, readAndClose(t, resp))
			assert.Equal(t, int64(1), body.closes.Load())
		})
	}
}

func TestNotFoundPassesWhenTheRequestCannotBeRead(t *testing.T) {
	t.Parallel()
	tests := map[string]func() (io.ReadCloser, error){
		"no GetBody":       nil,
		"GetBody fails":    func() (io.ReadCloser, error) { return nil, errors.New("gone") },
		"its reader fails": func() (io.ReadCloser, error) { return io.NopCloser(brokenAfter("", io.ErrUnexpectedEOF)), nil },
	}
	for name, getBody := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := streamablePost(t, callTwo)
			req.GetBody = getBody
			resp, _, err := said(404, notFoundTwo).roundTrip(req)
			require.NoError(t, err)
			assert.Equal(t, http.StatusNotFound, resp.StatusCode)
			assert.Equal(t, notFoundTwo, readAndClose(t, resp))
		})
	}
}

func TestNotFoundClosesTheRequestBodyItAskedFor(t *testing.T) {
	t.Parallel()
	copied := &trackedBody{Reader: strings.NewReader(callTwo)}
	req := streamablePost(t, callTwo)
	req.GetBody = func() (io.ReadCloser, error) { return copied, nil }
	resp, _, err := said(404, notFoundTwo).roundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, int64(1), copied.closes.Load())
}

func TestNotFoundOfOtherRequestsPassesUnread(t *testing.T) {
	t.Parallel()
	tests := map[string]*http.Request{
		"POST of the legacy SSE transport": legacyPost(t, callTwo),
		"GET":                              request(t, http.MethodGet, "http://server.example/mcp", callTwo),
		"DELETE":                           request(t, http.MethodDelete, "http://server.example/mcp", callTwo),
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if req.Method != http.MethodPost {
				req.Header.Set("Accept", streamableAccept)
			}
			resp, body, err := said(404, notFoundTwo).roundTrip(req)
			require.NoError(t, err)
			assert.Zero(t, body.read.Load())
			assert.Equal(t, http.StatusNotFound, resp.StatusCode)
			assert.Equal(t, notFoundTwo, readAndClose(t, resp))
		})
	}
}

func TestNotFoundThatBreaksOffKeepsItsError(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	resp, body, err := answer{status: 404, body: brokenAfter("session go", lost)}.roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, lost)
	assert.Equal(t, "session go", string(got))
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, int64(1), body.closes.Load())
}

func TestNotFoundThatTheCallerGaveUpOnDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	broken := answer{status: 404, body: brokenAfter(`{"jsonrpc":`, context.Canceled)}
	resp, body, err := broken.roundTrip(streamablePost(t, callTwo).WithContext(ctx))
	assert.Nil(t, resp)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, int64(1), body.closes.Load())
}

func TestNotFoundKeepsAnErrorThatTheBodyGivesOnce(t *testing.T) {
	t.Parallel()
	once := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("gone")))
	resp, _, err := answer{status: 404, body: once}.roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, iotest.ErrTimeout)
	assert.Equal(t, "g", string(got))
}

func TestNotFoundReadsAcceptAsHTTPDoes(t *testing.T) {
	t.Parallel()
	for _, accept := range [][]string{
		{"Text/Event-Stream"},
		{"text/event-stream;q=0.5, application/json"},
		{jsonType, "text/event-stream"},
	} {
		req := legacyPost(t, callTwo)
		req.Header["Accept"] = accept
		resp, _, err := said(404, notFoundTwo).roundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode, accept)
	}
}

func TestNotFoundLeavesTheHeadersOfBaseAlone(t *testing.T) {
	t.Parallel()
	shared := said(404, notFoundTwo).with("Content-Type", "text/plain")
	resp, _, err := shared.roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	assert.Equal(t, jsonType, resp.Header.Get("Content-Type"))
	assert.Equal(t, "text/plain", shared.header.Get("Content-Type"))
}

func TestNotFoundWithoutHeadersIsRevealed(t *testing.T) {
	t.Parallel()
	resp, _, err := answer{status: 404, body: strings.NewReader(notFoundTwo)}.roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Content-Type": {jsonType}}, resp.Header)
}

// brokenAfter is a body that gives text, then fails.
func brokenAfter(text string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(text), failingReader{err})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }
