package wire_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

const (
	streamableAccept = "application/json, text/event-stream"
	jsonType         = "application/json"
	callTwo          = `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`
)

// roundTripFunc is a Base made of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// trackedBody counts what is read from it and how often it is closed.
type trackedBody struct {
	io.Reader
	read   atomic.Int64
	closes atomic.Int64
}

func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read.Add(int64(n))
	return n, err
}

func (b *trackedBody) Close() error {
	b.closes.Add(1)
	return nil
}

// answer is what a fake server says.
type answer struct {
	status int
	header http.Header
	body   io.Reader
}

func said(status int, body string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {jsonType}}, body: strings.NewReader(body)}
}

// with adds a header to the answer.
func (a answer) with(name, value string) answer {
	a.header = a.header.Clone()
	a.header.Set(name, value)
	return a
}

// response renders the answer, and the body whose fate can be told later.
func (a answer) response(req *http.Request) (*http.Response, *trackedBody) {
	body := &trackedBody{Reader: a.body}
	return &http.Response{
		Status:        http.StatusText(a.status),
		StatusCode:    a.status,
		Header:        a.header,
		Body:          body,
		ContentLength: -1,
		Request:       req,
	}, body
}

// roundTrip sends req through a Transport whose server says a.
func (a answer) roundTrip(req *http.Request) (*http.Response, *trackedBody, error) {
	var body *trackedBody
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, tracked := a.response(req)
		body = tracked
		return resp, nil
	})
	resp, err := (&wire.Transport{Base: base}).RoundTrip(req)
	return resp, body, err
}

// streamablePost is a POST of mcp-go's streamable HTTP transport.
func streamablePost(t testing.TB, body string) *http.Request {
	t.Helper()
	req := legacyPost(t, body)
	req.Header.Set("Accept", streamableAccept)
	return req
}

// legacyPost is a POST of mcp-go's SSE transport, which names no Accept.
func legacyPost(t testing.TB, body string) *http.Request {
	t.Helper()
	return request(t, http.MethodPost, "http://server.example/mcp", body)
}

func request(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", jsonType)
	return req
}

// readAndClose returns the whole body as text.
func readAndClose(t testing.TB, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(body)
}
