package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

const (
	notFoundError = `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`
	otherError    = `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"busy"}}`
)

func TestFailureBecomesStatusError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		body   string
	}{
		"JSON without an error":                  {503, `{"message":"unavailable"}`},
		"JSON-RPC result":                        {500, `{"jsonrpc":"2.0","id":2,"result":{}}`},
		"null error":                             {500, `{"id":2,"error":null}`},
		"error that is a number":                 {500, `{"id":2,"error":5}`},
		"error that is a list":                   {500, `{"id":2,"error":[]}`},
		"error whose code is text":               {429, `{"error":{"code":"rate_limited","message":"slow down"}}`},
		"error after which null wins":            {500, `{"error":{"code":-32000},"error":null}`},
		"error after which null wins, any case":  {500, `{"error":{"code":-32000},"ERROR":null}`},
		"id that mcp-go cannot read":             {500, `{"id":{},"error":{"code":-32000}}`},
		"jsonrpc that mcp-go cannot read":        {500, `{"jsonrpc":2,"error":{"code":-32000}}`},
		"batch of errors":                        {400, `[` + otherError + `]`},
		"JSON null":                              {500, `null`},
		"JSON text":                              {500, `"error"`},
		"trailing bytes after the error":         {500, otherError + "x"},
		"HTML":                                   {502, "<html>bad gateway</html>"},
		"empty body":                             {405, ""},
		"error longer than the peek":             {500, otherError + strings.Repeat(" ", 64<<10)},
		"-32601 inside 403":                      {403, notFoundError},
		"-32601 inside 500":                      {500, notFoundError},
		"-32601 inside 502":                      {502, notFoundError},
		"-32601 inside 503":                      {503, notFoundError},
		"-32601 inside 599":                      {599, notFoundError},
		"-32601 put together from equal names":   {503, `{"error":{"code":-32601},"error":{"message":"x"}}`},
		"304 with JSON":                          {304, `{"message":"unchanged"}`},
		"302 without a Location":                 {302, `{"message":"moved"}`},
		"a status below 100, which Go lets pass": {42, `{"message":"?"}`},
		"a status above 599":                     {799, `{"message":"?"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, req := range []*http.Request{streamablePost(t, callTwo), legacyPost(t, callTwo)} {
				resp, body, err := said(tt.status, tt.body).roundTrip(req)
				assert.Nil(t, resp)
				var status *wire.StatusError
				require.ErrorAs(t, err, &status)
				assert.Equal(t, tt.status, status.StatusCode)
				assert.Equal(t, tt.body[:min(len(tt.body), 4<<10)], status.Body)
				assert.Equal(t, int64(1), body.closes.Load())
			}
		})
	}
}

func TestAnswerToPostPassesUntouched(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		body   string
	}{
		"200 with a result":                   {200, `{"jsonrpc":"2.0","id":2,"result":{}}`},
		"200 with -32601":                     {200, notFoundError},
		"200 with anything":                   {200, `{"message":"unavailable"}`},
		"202 to a notification":               {202, ""},
		"204 to a notification":               {204, ""},
		"401 with JSON":                       {401, `{"error":"invalid_token"}`},
		"401 with -32601":                     {401, notFoundError},
		"401 with text":                       {401, "who are you?"},
		"400 with a JSON-RPC error":           {400, otherError},
		"400 with -32601":                     {400, notFoundError},
		"400 with -32601 for another request": {400, strings.Replace(notFoundError, ":2,", ":9,", 1)},
		"501 with -32601":                     {501, notFoundError},
		"403 with another JSON-RPC error":     {403, otherError},
		"500 with another JSON-RPC error":     {500, otherError},
		"error without jsonrpc and id":        {500, `{"error":{"code":-32000,"message":"busy"}}`},
		"error without a code":                {500, `{"error":{"message":"busy"}}`},
		"error as a string":                   {503, `{"error":"busy"}`},
		"-32601 after which a string wins":    {503, `{"error":{"code":-32601},"error":"busy"}`},
		"error and result":                    {500, `{"id":2,"result":{},"error":{"code":-32000}}`},
		"error with a null id":                {400, `{"id":null,"error":{"code":-32700}}`},
		"error of exactly the peek size":      {500, otherError + strings.Repeat("\n", 64<<10-len(otherError))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, req := range []*http.Request{streamablePost(t, callTwo), legacyPost(t, callTwo)} {
				resp, body, err := said(tt.status, tt.body).with("Retry-After", "7").roundTrip(req)
				require.NoError(t, err)
				assert.Equal(t, tt.status, resp.StatusCode)
				assert.Equal(t, http.Header{"Content-Type": {jsonType}, "Retry-After": {"7"}}, resp.Header)
				assert.Equal(t, tt.body, readAndClose(t, resp))
				assert.Equal(t, int64(1), body.closes.Load())
			}
		})
	}
}

func TestRedirectPassesToTheHTTPClient(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		resp, body, err := said(status, `{"message":"moved"}`).with("Location", "/elsewhere").roundTrip(streamablePost(t, callTwo))
		require.NoError(t, err, status)
		assert.Zero(t, body.read.Load(), status)
		assert.Equal(t, status, resp.StatusCode)
		assert.Equal(t, `{"message":"moved"}`, readAndClose(t, resp))
	}
}

func TestAnswersToOtherMethodsPassUnread(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodHead} {
		for _, status := range []int{400, 403, 405, 406, 500, 503} {
			req := request(t, method, "http://server.example/mcp", "")
			req.Header.Set("Accept", "text/event-stream")
			resp, body, err := said(status, `{"message":"no stream"}`).roundTrip(req)
			require.NoError(t, err, method, status)
			assert.Zero(t, body.read.Load(), method, status)
			assert.Equal(t, status, resp.StatusCode)
			assert.Equal(t, `{"message":"no stream"}`, readAndClose(t, resp))
			assert.Equal(t, int64(1), body.closes.Load())
		}
	}
}

func TestPostThatARedirectMadeAGetIsStillJudged(t *testing.T) {
	t.Parallel()
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		next := said(302, "").with("Location", "/sorry")
		if req.URL.Path == "/sorry" {
			next = said(503, `{"message":"unavailable"}`)
		}
		resp, _ := next.response(nil)
		return resp, nil
	})
	httpClient := &http.Client{Transport: &wire.Transport{Base: base}}
	_, err := httpClient.Do(streamablePost(t, callTwo))
	var status *wire.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, http.MethodGet, status.Method)
	assert.Equal(t, "http://server.example/sorry", status.URL)
}

func TestEndlessBodyIsReadNoFurtherThanThePeek(t *testing.T) {
	t.Parallel()
	const peeked = 64<<10 + 1
	for _, status := range []int{404, 503} {
		resp, body, err := answer{status: status, body: endless{}}.roundTrip(streamablePost(t, callTwo))
		assert.Equal(t, status == 503, err != nil)
		assert.LessOrEqual(t, body.read.Load(), int64(peeked))
		if resp != nil {
			require.NoError(t, resp.Body.Close())
		}
		assert.Equal(t, int64(1), body.closes.Load())
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestARefusedHandshakeIsReadDespiteItsStatus(t *testing.T) {
	t.Parallel()
	const initialize = `{"jsonrpc":"2.0","id":2,"method":"initialize"}`
	const refused = `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unsupported protocol version"}}`
	tests := map[string]struct {
		status     int
		call, body string
		want       int
	}{
		"its own id":               {400, initialize, refused, 200},
		"another id":               {400, initialize, strings.Replace(refused, `"id":2`, `"id":3`, 1), 400},
		"no id":                    {400, initialize, `{"error":{"code":-32602}}`, 400},
		"another method":           {400, callTwo, refused, 400},
		"a failure of the server":  {500, initialize, refused, 500},
		"a method that is missing": {405, initialize, notFoundTwo, 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, _, err := said(tt.status, tt.body).roundTrip(streamablePost(t, tt.call))
			require.NoError(t, err)
			assert.Equal(t, tt.want, resp.StatusCode)
			assert.Equal(t, tt.body, readAndClose(t, resp))
		})
	}
}
