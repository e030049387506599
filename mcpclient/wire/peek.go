package wire

import (
	"bytes"
	"errors"
	"io"
)

// peekLimit is how much of a body is read to judge an answer.
const peekLimit = 64 << 10

// beginning is the first part of a body.
type beginning struct {
	data []byte
	err  error // what ended the reading: io.EOF, another error, or nil at the limit
}

// peek reads the beginning of body: one byte more than the limit, to know
// whether that is all.
func peek(body io.Reader) beginning {
	var data bytes.Buffer
	_, err := io.CopyN(&data, body, peekLimit+1)
	return beginning{data: data.Bytes(), err: err}
}

// readable returns the body where it fits the limit, else nothing. A body that
// broke off counts: mcp-go decodes what it got.
func (b beginning) readable() []byte {
	if len(b.data) > peekLimit {
		return nil
	}
	return b.data
}

// failure is why the body broke off; nil when it did not.
func (b beginning) failure() error {
	if errors.Is(b.err, io.EOF) {
		return nil
	}
	return b.err
}

// before puts the beginning back in front of the rest of its body.
func (b beginning) before(rest io.ReadCloser) io.ReadCloser {
	whole := io.MultiReader(bytes.NewReader(b.data), rest)
	if b.err != nil {
		whole = io.MultiReader(bytes.NewReader(b.data), ended{b.err})
	}
	return readCloser{whole, rest}
}

// ended is a reader that has come to its end.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

type readCloser struct {
	io.Reader
	io.Closer
}
