package wire_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// FuzzBody wants the bound where the package says that it is, to the byte, in
// bodies and in the framing of event streams, however the bytes arrive and are
// read; and nothing is read from the server beyond it.
func FuzzBody(f *testing.F) {
	answer := []byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}\n\n")
	for _, seed := range [][]byte{
		nil, answer, bytes.Repeat(answer, 3),
		[]byte(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`),
		[]byte(": ping\r\n\r\nid: 1\r\ndata: {}\r\n\r\n"),
		[]byte("\n\n\r\n\r\r\n\ndata:\rdata\n\r"),
		[]byte("data: one\ndata: two\n"), []byte("\ufeffdata: x\n\n"), []byte("\n0123456789"),
	} {
		for _, limit := range []int64{1, 10, int64(len(seed)), 1_000} {
			f.Add(true, seed, limit, uint8(3), false)
			f.Add(false, seed, limit, uint8(0), true)
		}
	}
	f.Fuzz(func(t *testing.T, stream bool, body []byte, limit int64, size uint8, bytewise bool) {
		if limit <= 0 {
			limit = wire.DefaultMaxBody
		}
		reader := io.Reader(bytes.NewReader(body))
		if bytewise {
			reader = iotest.OneByteReader(reader)
		}
		header := http.Header{"Content-Type": {jsonType}}
		if stream {
			header.Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		req := streamablePost(t, callTwo)
		resp, tracked := answerTo(t, req, header, reader, limit)

		got, err := readBy(resp.Body, int(size)+1)

		want, tooLarge := withinBound(body, limit, stream)
		require.Equal(t, string(want), string(got))
		if !tooLarge {
			require.ErrorIs(t, err, io.EOF)
			return
		}
		var beyond *wire.BodyTooLargeError
		require.ErrorAs(t, err, &beyond)
		require.Equal(t, limit, beyond.Limit)
		read := tracked.read.Load()
		require.LessOrEqual(t, read, int64(len(want)+int(size)+1), "at most one read more")
		_, again := readBy(resp.Body, 1)
		require.Equal(t, err, again, "the error stays")
		require.Equal(t, read, tracked.read.Load(), "nothing is read after it")
	})
}

func answerTo(t *testing.T, req *http.Request, header http.Header, body io.Reader, limit int64) (*http.Response, *trackedBody) {
	t.Helper()
	var tracked *trackedBody
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, sent := answer{status: http.StatusOK, header: header, body: body}.response(req)
		tracked = sent
		return resp, nil
	})
	resp, err := (&wire.Transport{Base: base, MaxBody: limit}).RoundTrip(req)
	require.NoError(t, err)
	return resp, tracked
}

// readBy reads all with reads of one size.
func readBy(r io.Reader, size int) ([]byte, error) {
	var all []byte
	buffer := make([]byte, size)
	for {
		n, err := r.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			return all, err
		}
	}
}

// withinBound cuts a body into its events, each with the empty line that ends
// it but for the last line feed, and returns what is within the bound.
func withinBound(body []byte, limit int64, stream bool) (within []byte, tooLarge bool) {
	start := 0
	for end := 0; stream && end < len(body); {
		line, _, _ := bytes.Cut(body[end:], []byte("\n"))
		end += len(line) + 1
		if end > len(body) || len(bytes.Trim(line, "\r")) > 0 {
			continue
		}
		if int64(end-1-start) > limit {
			break
		}
		start = end
	}
	if int64(len(body)-start) > limit {
		return body[:start+int(limit)], true
	}
	return body, false
}
