package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// exchange is one POST and what a server says to it.
type exchange struct {
	status      int
	contentType string
	retryAfter  string
	accept      string
	call        []byte
	body        []byte
	maxBody     int64
}

var seeds = []exchange{
	{404, jsonType, "", streamableAccept, []byte(callTwo), []byte(notFoundTwo), 0},
	{404, "application/json; charset=utf-8", "", streamableAccept, []byte(`{"jsonrpc":"2.0","id":"a","method":"ping"}`), []byte(`{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found","data":{"method":"ping"}}}`), 20},
	{404, jsonType, "", streamableAccept, []byte(callTwo), []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`), 0},
	{404, "text/plain; charset=utf-8", "", streamableAccept, []byte(callTwo), []byte("404 page not found\n"), 0},
	{404, jsonType, "", "", []byte(callTwo), []byte(notFoundTwo), 0},
	{503, jsonType, "30", streamableAccept, []byte(callTwo), []byte(`{"message":"unavailable"}`), 0},
	{502, "text/html", "", streamableAccept, []byte(callTwo), []byte("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n"), 0},
	{429, jsonType, "Wed, 21 Oct 2026 07:28:00 GMT", streamableAccept, []byte(callTwo), []byte(`{"error":{"type":"rate_limit","code":"slow","message":"slow down"}}`), 0},
	{403, jsonType, "", streamableAccept, []byte(callTwo), []byte(notFoundTwo), 0},
	{503, jsonType, "", streamableAccept, []byte(callTwo), []byte(`{"error":{"code":-32601},"Error":{"message":"x"}}`), 0},
	{400, jsonType, "", streamableAccept, []byte(callTwo), []byte(`{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`), 0},
	{400, jsonType, "", "", []byte(callTwo), []byte(`{"error":"invalid_grant","error_description":"expired"}`), 0},
	{401, jsonType, "", streamableAccept, []byte(callTwo), []byte(`{"error":"invalid_token"}`), 0},
	{202, "", "", streamableAccept, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil, 0},
	{200, "text/event-stream", "", streamableAccept, []byte(callTwo), []byte(": ping\r\n\r\nid: 1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n"), 60},
	{302, "", "", streamableAccept, []byte(callTwo), []byte(`{}`), 0},
	{0, "", "-1", "", nil, nil, 1},
}

// FuzzTransport wants of any answer that it never panics, that what mcp-go
// would take for a success never comes out of a failure, that every other body
// passes byte for byte within the bound, and that each body is closed once.
func FuzzTransport(f *testing.F) {
	for _, s := range seeds {
		f.Add(s.status, s.contentType, s.retryAfter, s.accept, s.call, s.body, s.maxBody)
	}
	f.Fuzz(func(t *testing.T, status int, contentType, retryAfter, accept string, call, body []byte, maxBody int64) {
		e := exchange{status, contentType, retryAfter, accept, call, body, maxBody}
		resp, tracked, err := e.do(t)
		if err != nil {
			requireStatusError(t, e, err)
		} else {
			requireTruth(t, e, resp)
			requireBody(t, e, resp)
			require.NoError(t, resp.Body.Close())
		}
		require.Equal(t, int64(1), tracked.closes.Load())
	})
}

func (e exchange) do(t *testing.T) (*http.Response, *trackedBody, error) {
	req := streamablePost(t, string(e.call))
	req.Header.Set("Accept", e.accept)
	var tracked *trackedBody
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		header := http.Header{"Content-Type": {e.contentType}, "Retry-After": {e.retryAfter}}
		resp, body := answer{status: e.status, header: header, body: bytes.NewReader(e.body)}.response(req)
		tracked = body
		return resp, nil
	})
	resp, err := (&wire.Transport{Base: base, MaxBody: e.maxBody}).RoundTrip(req)
	require.LessOrEqual(t, tracked.read.Load(), int64(64<<10+1), "read to judge")
	return resp, tracked, err
}

func requireStatusError(t *testing.T, e exchange, err error) {
	var status *wire.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, e.status, status.StatusCode)
	assert.NotEqual(t, 2, e.status/100)
	assert.LessOrEqual(t, len(status.Body), 4<<10)
	assert.True(t, bytes.HasPrefix(e.body, []byte(status.Body)))
	assert.GreaterOrEqual(t, status.RetryAfter, time.Duration(0))
	assert.LessOrEqual(t, len(status.Error()), 2<<10)
	assert.NotContains(t, status.Error(), "\n")
}

// requireTruth decodes the body as mcp-go does and wants no failure to look
// like a success, nor a missing method where none can be known.
func requireTruth(t *testing.T, e exchange, resp *http.Response) {
	var got transport.JSONRPCResponse
	decoded := json.Unmarshal(e.body, &got) == nil
	switch {
	case resp.StatusCode != e.status:
		require.Equal(t, []int{404, 200}, []int{e.status, resp.StatusCode})
		require.True(t, decoded)
		require.NotNil(t, got.Error)
		require.Equal(t, mcp.METHOD_NOT_FOUND, got.Error.Code)
		require.False(t, got.ID.IsNil())
	case e.status/100 <= 3 && e.status >= 100, e.status == 401, e.status == 404:
	case decoded:
		require.NotNil(t, got.Error, "mcp-go takes this for a success")
		if e.status == 403 || e.status/100 == 5 && e.status != 501 {
			require.NotEqual(t, mcp.METHOD_NOT_FOUND, got.Error.Code)
		}
	}
}

func requireBody(t *testing.T, e exchange, resp *http.Response) {
	limit := e.maxBody
	if limit <= 0 {
		limit = wire.DefaultMaxBody
	}
	got, err := io.ReadAll(resp.Body)
	if err == nil {
		require.True(t, bytes.Equal(e.body, got), "every byte passes")
		require.False(t, e.strays(), "the answer to another request passes")
		return
	}
	if mismatch, strayed := errors.AsType[*wire.MismatchError](err); strayed {
		require.Equal(t, 2, e.status/100)
		require.True(t, bytes.HasPrefix(e.body, got))
		require.True(t, e.strays() || !e.isDecodable(), "%v", mismatch)
		return
	}
	var tooLarge *wire.BodyTooLargeError
	require.ErrorAs(t, err, &tooLarge)
	require.Equal(t, limit, tooLarge.Limit)
	require.True(t, bytes.HasPrefix(e.body, got))
	require.Greater(t, int64(len(e.body)), limit, "a body within the bound passes")
}

// identified is what mcp-go compares nothing of.
type identified struct {
	ID json.RawMessage `json:"id"`
}

// isDecodable says whether mcp-go takes the body for one response.
func (e exchange) isDecodable() bool {
	var said transport.JSONRPCResponse
	return !strings.HasPrefix(e.contentType, "text/event-stream") && json.NewDecoder(bytes.NewReader(e.body)).Decode(&said) == nil
}

// strays says whether a response that mcp-go would take under a success has surely
// the id of another request: other texts, or other small numbers.
func (e exchange) strays() bool {
	var sent struct {
		identified
		Method string `json:"method"`
	}
	var said identified
	if e.status/100 != 2 || !strings.Contains(e.accept, "text/event-stream") || !e.isDecodable() ||
		json.NewDecoder(bytes.NewReader(e.call)).Decode(&sent) != nil || sent.Method == "" ||
		json.NewDecoder(bytes.NewReader(e.body)).Decode(&said) != nil {
		return false
	}
	var want, got any
	if json.Unmarshal(sent.ID, &want) != nil || json.Unmarshal(said.ID, &got) != nil || want == nil || got == nil {
		return false
	}
	return want != got
}
