package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// drainTime is how long requests may take to be answered once their input has
// ended.
const drainTime = 5 * time.Second

// drain holds the end of an input back until the requests in it have been
// answered, for a while: mcp-go's server ends calls in flight with its input,
// and then `printf ... | vmcp serve --stdio` would get no answer.
type drain struct {
	ctx context.Context
	in  *bufio.Reader
	out io.Writer

	rest []byte // of a line that did not fit
	err  error  // of the input

	mu       sync.Mutex
	open     int
	answered chan struct{} // has something in it after each answer
}

func newDrain(ctx context.Context, in io.Reader, out io.Writer) *drain {
	return &drain{ctx: ctx, in: bufio.NewReader(in), out: out, answered: make(chan struct{}, 1)}
}

// Read hands on the input line by line.
func (d *drain) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		if d.err != nil {
			d.wait()
			return 0, d.err
		}
		d.rest, d.err = d.in.ReadBytes('\n')
		if isRequest, _ := kind(d.rest); isRequest {
			d.count(1)
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// Write is called with whole messages.
func (d *drain) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	if _, isAnswer := kind(p); isAnswer {
		d.count(-1)
	}
	return n, err
}

// kind says what a JSON-RPC message is, if it is one.
func kind(line []byte) (isRequest, isAnswer bool) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(bytes.TrimSpace(line), &message) != nil || message.ID == nil {
		return false, false
	}
	return message.Method != "", message.Method == ""
}

func (d *drain) count(change int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open += change
	select {
	case d.answered <- struct{}{}:
	default:
	}
}

func (d *drain) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open <= 0
}

func (d *drain) wait() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for !d.idle() {
		select {
		case <-d.answered:
		case <-timer.C:
			return
		case <-d.ctx.Done():
			return
		}
	}
}
