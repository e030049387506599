package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"sync"
)

// overhear compares the id of the answer with that of the request, and tells the
// exchange what it is, while mcp-go reads it.
func overhear(exchange *Exchange, sent message, resp *http.Response) {
	if sent.ID.value == nil || !answersPost(resp.Request) || !acceptsStream(resp.Request) ||
		resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	heard := &overheard{ReadCloser: resp.Body, exchange: exchange, sent: sent, succeeds: resp.StatusCode/100 == 2}
	if exchange != nil && !exchange.isOwned() {
		heard.most = peekLimit // nobody writes a longer error
		if exchange.wantsResults() {
			heard.most = math.MaxInt // the body has its bound
		}
	}
	resp.Body = heard
	if isEventStream(resp) {
		resp.Body = &overheardEvents{overheard: heard}
	}
}

// overheard judges a message once it has read the end of it, before mcp-go has.
// mcp-go reads an event stream on another goroutine than that which closes it.
type overheard struct {
	io.ReadCloser
	exchange *Exchange
	sent     message
	succeeds bool // under the status of a failure an error answers, whatever its id
	most     int  // how much of a message is kept

	mu       sync.Mutex
	envelope topLevel
	message  []byte
	tooLong  bool
	answered bool
	closed   bool // nobody waits for the answer any more
	err      error
}

// Read fails with a [*MismatchError] in the place of the last byte of an answer to
// another request, for ever.
func (o *overheard) Read(p []byte) (int, error) { return o.read(p, o.hear, o.judge) }

// read passes on what hear lets through, and judges what is left at the end.
func (o *overheard) read(p []byte, hear func([]byte) (int, error), end func() error) (int, error) {
	if err := o.failure(); err != nil {
		return 0, err
	}
	n, err := o.ReadCloser.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	n, o.err = hear(p[:n])
	if o.err == nil && errors.Is(err, io.EOF) {
		o.err = end()
	}
	if _, tooLarge := errors.AsType[*BodyTooLargeError](err); tooLarge && o.err == nil {
		o.err = err
	}
	if o.err != nil {
		o.exchange.failed(o.err)
		return n, o.err
	}
	return n, err
}

func (o *overheard) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Close ends the telling.
func (o *overheard) Close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	return o.ReadCloser.Close()
}

// hear returns how much of p mcp-go may read.
func (o *overheard) hear(p []byte) (int, error) {
	end := o.take(p)
	if end < 0 {
		return len(p), nil
	}
	if err := o.judge(); err != nil {
		return end - 1, err
	}
	return len(p), nil
}

// take reads a part of a message, and returns where it ends, or -1.
func (o *overheard) take(p []byte) int {
	o.tooLong = o.tooLong || len(o.message)+len(p) > o.most
	if !o.tooLong {
		o.message = append(o.message, p...)
	}
	return o.envelope.read(p)
}

// judge ends a message.
func (o *overheard) judge() error {
	defer o.next()
	if o.answered || !o.envelope.isObject || !o.envelope.ended { // mcp-go cannot decode it
		return nil
	}
	var id messageID
	if len(o.envelope.id) > 0 && json.Unmarshal(o.envelope.id, &id) != nil && len(o.envelope.id) < maxName {
		return nil // mcp-go says so
	}
	o.answered = id.equal(o.sent.ID)
	if o.succeeds && !o.answered && len(o.envelope.id) > 0 && string(o.envelope.id) != "null" {
		return &MismatchError{Sent: o.sent.ID.String(), Got: string(o.envelope.id)}
	}
	o.tell(id)
	return nil
}

// tell tells the exchange of an answer. An error without an id answers the request
// too: the server could not read so far.
func (o *overheard) tell(id messageID) {
	var answer response
	if o.closed || o.tooLong || len(o.message) == 0 || json.Unmarshal(o.message, &answer) != nil {
		return
	}
	switch {
	case answer.Error != nil && (o.answered || id.value == nil):
		o.exchange.Refused(Refusal(*answer.Error))
	case answer.Error == nil && o.answered:
		o.exchange.Answered(o.sent.Method, answer.Result)
	}
}

func (o *overheard) next() {
	o.message, o.tooLong = o.message[:0], false
	o.envelope.next()
}

const dataField = "data:"

// overheardEvents judges the data of each event for itself.
type overheardEvents struct {
	*overheard
	field []byte // the beginning of a line
}

// Read fails with a [*MismatchError] before the end of an event with the answer to
// another request, for ever.
func (o *overheardEvents) Read(p []byte) (int, error) { return o.read(p, o.hear, o.judge) }

func (o *overheardEvents) hear(p []byte) (int, error) {
	passed := 0
	for part := range bytes.Lines(p) {
		line, ends := bytes.CutSuffix(part, []byte{'\n'})
		o.takeLine(line)
		if ends {
			if err := o.endLine(); err != nil {
				return passed, err
			}
		}
		passed += len(part)
	}
	return passed, nil
}

// takeLine reads a part of a line.
func (o *overheardEvents) takeLine(part []byte) {
	head := part[:min(len(part), len(dataField)-len(o.field))]
	o.field = append(o.field, head...)
	if string(o.field) == dataField {
		o.take(part[len(head):])
	}
}

// endLine ends a line; an empty one ends an event.
func (o *overheardEvents) endLine() error {
	empty := len(bytes.TrimRight(o.field, "\r")) == 0
	o.field = o.field[:0]
	if !empty {
		return nil
	}
	return o.judge()
}

// judge ends an event. What has a method is no answer; mcp-go sees that in events
// only.
func (o *overheardEvents) judge() error {
	if o.envelope.hasMethod {
		o.next()
		return nil
	}
	return o.overheard.judge()
}
