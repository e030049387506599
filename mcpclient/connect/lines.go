package connect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync/atomic"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// lines reads the lines that a server writes: it bounds them, since mcp-go reads
// each whole, however long it is, and leaves out what a program logs there. It is
// read by one goroutine.
type lines struct {
	from   *bufio.Reader
	limit  int64
	length int64  // of the line that is being read
	rest   []byte // what is read and was not asked for yet
	failed atomic.Bool
}

// longestRecord is how long a line may be that is looked at: no log record is
// longer.
const longestRecord = 16 << 10

func newLines(from io.Reader, limit int64) *lines {
	return &lines{from: bufio.NewReaderSize(from, longestRecord), limit: limit}
}

// Read fails with a [*wire.BodyTooLargeError] when a line is longer than the
// limit.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if err := l.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// fill reads a line, or a part of one that is longer than a record.
func (l *lines) fill() error {
	if l.failed.Load() {
		return l.err()
	}
	part, err := l.from.ReadSlice('\n')
	rest, ends := bytes.CutSuffix(part, []byte{'\n'})
	begins := l.length == 0
	if l.length += int64(len(rest)); l.length > l.limit {
		l.failed.Store(true)
		return l.err()
	}
	if ends {
		l.length = 0
	}
	if !begins || !ends || !isRecord(rest) {
		l.rest = part
	}
	if len(part) > 0 { // what ended the reading does so again
		return nil
	}
	return err
}

func (l *lines) err() error { return &wire.BodyTooLargeError{Limit: l.limit} }

// isRecord says whether a line is an object that does not claim to be JSON-RPC
// and is no answer either: what a program logs. mcp-go v1.2.1 would take its id
// for that of a request, and its error for the answer.
func isRecord(line []byte) bool {
	if bytes.Contains(line, []byte(`"jsonrpc"`)) {
		return false
	}
	var said struct {
		JSONRPC *string         `json:"jsonrpc"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code *int `json:"code"`
		} `json:"error"`
	}
	err := json.Unmarshal(line, &said)
	return err != nil || said.JSONRPC == nil && said.Result == nil && (said.Error == nil || said.Error.Code == nil)
}
