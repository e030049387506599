package wire_test

import (
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

// readBounded reads a GET's answer through a Transport with the given bound,
// once in large reads and once byte by byte, and wants the same from both.
func readBounded(t *testing.T, limit int64, contentType, body string) (string, error) {
	t.Helper()
	read := func(reader io.Reader) (string, error) {
		base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
			resp, _ := answer{status: 200, header: http.Header{"Content-Type": {contentType}}, body: reader}.response(req)
			return resp, nil
		})
		req := request(t, http.MethodGet, "http://server.example/mcp", "")
		resp, err := (&wire.Transport{Base: base, MaxBody: limit}).RoundTrip(req)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		_, again := resp.Body.Read(make([]byte, 1))
		if err != nil {
			assert.Equal(t, err, again, "the error stays")
		}
		return string(got), err
	}
	whole, wholeErr := read(strings.NewReader(body))
	bytewise, bytewiseErr := read(iotest.OneByteReader(strings.NewReader(body)))
	assert.Equal(t, whole, bytewise)
	assert.Equal(t, wholeErr, bytewiseErr)
	return whole, wholeErr
}

func TestBodyWithinTheBoundIsReadInFull(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ contentType, body string }{
		"shorter":                                  {jsonType, "123456789"},
		"exactly the bound":                        {jsonType, "1234567890"},
		"empty":                                    {jsonType, ""},
		"one event of exactly the bound":           {"text/event-stream", "data: 123\n\n"},
		"many events":                              {"text/event-stream", strings.Repeat("data: 123\n\n", 1000)},
		"events that end with CR LF":               {"text/event-stream", strings.Repeat("data:12\r\n\r\n", 1000)},
		"blank lines only":                         {"text/event-stream", strings.Repeat("\n", 1000)},
		"blank lines of CR LF only":                {"text/event-stream", strings.Repeat("\r\n", 1000)},
		"parameters after the event stream's type": {"Text/Event-Stream; charset=utf-8", strings.Repeat("data: 123\n\n", 1000)},
		"an unfinished event of the bound":         {"text/event-stream", "\n0123456789"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readBounded(t, 10, tt.contentType, tt.body)
			require.NoError(t, err)
			assert.Equal(t, tt.body, got)
		})
	}
}

func TestBodyBeyondTheBoundFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ contentType, body, want string }{
		"one byte more":                         {jsonType, "1234567890a", "1234567890"},
		"blank lines do not help JSON":          {jsonType, "\n\n\n\n\n\n\n\n\n\n\n\n", "\n\n\n\n\n\n\n\n\n\n"},
		"no type":                               {"", "1234567890a", "1234567890"},
		"one line without an end":               {"text/event-stream", "data: 12345", "data: 1234"},
		"an event of many lines":                {"text/event-stream", "data:1\ndata:2\n\n", "data:1\ndat"},
		"an event of many lines with CR LF":     {"text/event-stream", "data:1\r\ndata:2\r\n", "data:1\r\nda"},
		"a later event":                         {"text/event-stream", "data: 1\n\ndata: 23456", "data: 1\n\ndata: 2345"},
		"carriage returns without an end":       {"text/event-stream", strings.Repeat("\r", 11), strings.Repeat("\r", 10)},
		"spaces are no blank line":              {"text/event-stream", "data: 12\n \nx", "data: 12\n "},
		"CR within a line makes it none":        {"text/event-stream", "data: 1\r\rx\n\n", "data: 1\r\rx"},
		"a type that only starts like a stream": {"text/event-streams", "data: 12\n\ndata", "data: 12\n\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readBounded(t, 10, tt.contentType, tt.body)
			var tooLarge *wire.BodyTooLargeError
			require.ErrorAs(t, err, &tooLarge)
			assert.Equal(t, int64(10), tooLarge.Limit)
			assert.Equal(t, "server sent more than 10 bytes", err.Error())
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestDefaultBound(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 64<<20, wire.DefaultMaxBody)
	for _, limit := range []int64{0, -1} {
		base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
			resp, _ := answer{status: 200, body: endless{}}.response(req)
			return resp, nil
		})
		resp, err := (&wire.Transport{Base: base, MaxBody: limit}).RoundTrip(streamablePost(t, callTwo))
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, resp.Body)
		var tooLarge *wire.BodyTooLargeError
		require.ErrorAs(t, err, &tooLarge)
		assert.Equal(t, wire.DefaultMaxBody, n)
	}
}

func TestRevealedAndPassedBodiesAreBoundedToo(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 400, 401} {
		base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
			resp, _ := said(status, notFoundTwo).response(req)
			return resp, nil
		})
		resp, err := (&wire.Transport{Base: base, MaxBody: 8}).RoundTrip(streamablePost(t, callTwo))
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		var tooLarge *wire.BodyTooLargeError
		require.ErrorAs(t, err, &tooLarge)
		assert.Equal(t, notFoundTwo[:8], string(got))
	}
}

func TestErrorOfTheBodyPasses(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	resp, body, err := answer{status: 200, body: brokenAfter("half", lost)}.roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	got, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, lost)
	assert.Equal(t, "half", string(got))
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, int64(1), body.closes.Load())
}
