package connect

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// lines bounds the lines that are read from a server: mcp-go reads each whole,
// however long it is. It is read by one goroutine.
type lines struct {
	io.Reader
	limit  int64
	length int64 // of the line that is being read
	failed atomic.Bool
}

// Read fails with a [*wire.BodyTooLargeError] when a line is longer than the
// limit.
func (l *lines) Read(p []byte) (int, error) {
	if l.failed.Load() {
		return 0, l.err()
	}
	n, err := l.Reader.Read(p)
	for line := range bytes.Lines(p[:n]) {
		rest, ends := bytes.CutSuffix(line, []byte{'\n'})
		if l.length += int64(len(rest)); l.length > l.limit {
			l.failed.Store(true)
			return 0, l.err()
		}
		if ends {
			l.length = 0
		}
	}
	return n, err
}

func (l *lines) err() error { return &wire.BodyTooLargeError{Limit: l.limit} }
