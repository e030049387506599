package wire

import (
	"fmt"
	"io"
	"mime"
	"net/http"
)

// DefaultMaxBody is the bound on an answer when [Transport.MaxBody] sets none:
// 64 MiB.
const DefaultMaxBody int64 = 64 << 20

const eventStream = "text/event-stream"

// BodyTooLargeError is what reading a body fails with once it gives more than
// the bound. In an event stream the bound holds for one event, line ends
// included, as the stream itself may live for ever. A body of exactly the bound
// is read in full.
//
// Test for it with [errors.As]. mcp-go v1.2.1 passes it on from a JSON body;
// from an event stream it writes it to its log only, and the call fails with
// another error.
type BodyTooLargeError struct {
	Limit int64 // the bound, in bytes
}

// Error states the bound.
func (e *BodyTooLargeError) Error() string {
	return fmt.Sprintf("server sent more than %d bytes", e.Limit)
}

// bound puts the bound on the body of an answer. A 101 keeps its body, which is
// a connection that can be written to.
func bound(resp *http.Response, limit int64) {
	if resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	body := boundedBody{ReadCloser: resp.Body, limit: limit}
	if body.limit <= 0 {
		body.limit = DefaultMaxBody
	}
	if isEventStream(resp) {
		resp.Body = &boundedEvents{boundedBody: body, lineIsEmpty: true}
		return
	}
	resp.Body = &body
}

// isEventStream reads the media type as mcp-go does: parameters, even
// malformed ones, do not matter.
func isEventStream(resp *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return mediaType == eventStream
}

// boundedBody fails once it has given more than limit bytes.
type boundedBody struct {
	io.ReadCloser
	limit int64
	count int64
	err   error
}

// Read gives the bytes within the bound, then the error, for ever.
func (b *boundedBody) Read(p []byte) (int, error) {
	return b.read(p, b.admit)
}

// read reads what admit lets through.
func (b *boundedBody) read(p []byte, admit func([]byte) int) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if admitted := admit(p[:n]); admitted < n {
		b.err = &BodyTooLargeError{Limit: b.limit}
		return admitted, b.err
	}
	return n, err
}

func (b *boundedBody) admit(p []byte) int {
	n := min(int64(len(p)), b.limit-b.count)
	b.count += n
	return int(n)
}

// boundedEvents fails once one event has more than limit bytes. An event ends
// where it ends for mcp-go: with a line of nothing but carriage returns.
type boundedEvents struct {
	boundedBody
	lineIsEmpty bool
}

// Read gives the bytes within the bound, then the error, for ever.
func (b *boundedEvents) Read(p []byte) (int, error) {
	return b.read(p, b.admit)
}

func (b *boundedEvents) admit(p []byte) int {
	for i, c := range p {
		if c == '\n' && b.lineIsEmpty {
			b.count = 0
			continue
		}
		if b.count == b.limit {
			return i
		}
		b.count++
		b.lineIsEmpty = c == '\n' || c == '\r' && b.lineIsEmpty
	}
	return len(p)
}
