package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// announce tells the exchange of a request's context where the request goes
// and, where nobody above does, which one it is.
func announce(req *http.Request) *Exchange {
	exchange := ExchangeOf(req.Context())
	if exchange == nil {
		return nil
	}
	peer := Peer{Transport: "tcp", Protocol: "http"}
	if first := firstRequest(req); first != nil {
		peer.Address, peer.Port = hostOf(first.URL)
	}
	exchange.Reached(peer)
	if sent := messageOf(req); !exchange.isOwned() && sent.ID.value != nil {
		id, session := fmt.Sprint(sent.ID.value), req.Header.Get("Mcp-Session-Id")
		exchange.each(func(each *Exchange) { each.facts.begin(id, session) })
	}
	return exchange
}

func hostOf(u *url.URL) (host string, number int) {
	if u == nil {
		return "", 0
	}
	number, _ = strconv.Atoi(port(u)) // 0 where the scheme has no port
	return u.Hostname(), number
}

// answered tells the exchange with which status, and in which version of HTTP,
// the answer came.
func (e *Exchange) answered(resp *http.Response) {
	if e == nil {
		return
	}
	version := ""
	if resp.ProtoMajor != 0 {
		version = strings.TrimSuffix(fmt.Sprintf("%d.%d", resp.ProtoMajor, resp.ProtoMinor), ".0")
	}
	e.each(func(each *Exchange) {
		each.facts.Status = resp.StatusCode
		each.facts.Peer.ProtocolVersion = cmp.Or(version, each.facts.Peer.ProtocolVersion)
	})
}

// overhear tells the exchange what it is answered, while mcp-go reads it.
func overhear(exchange *Exchange, resp *http.Response) {
	if exchange == nil || exchange.isOwned() || !answersPost(resp.Request) || !acceptsStream(resp.Request) || resp.Body == http.NoBody {
		return
	}
	heard := &overheard{ReadCloser: resp.Body, exchange: exchange, sent: messageOf(resp.Request).ID}
	resp.Body = heard
	if isEventStream(resp) {
		resp.Body = &overheardEvents{overheard: heard}
	}
}

// overheard keeps a message and judges it when the body is closed: mcp-go
// does so before it returns to its caller. It reads an event stream on another
// goroutine than that which closes it.
type overheard struct {
	io.ReadCloser
	exchange *Exchange
	sent     messageID

	mu      sync.Mutex
	message []byte
	tooLong bool
	closed  bool // nobody waits for the answer any more
}

// Read passes on what it keeps.
func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(p[:n])
	return n, err
}

// Close judges what is kept.
func (o *overheard) Close() error {
	o.mu.Lock()
	o.judge()
	o.closed = true
	o.mu.Unlock()
	return o.ReadCloser.Close()
}

// keep keeps no message longer than peekLimit: nobody writes such an error.
func (o *overheard) keep(p []byte) {
	o.tooLong = o.tooLong || len(o.message)+len(p) > peekLimit
	if !o.tooLong {
		o.message = append(o.message, p...)
	}
}

// judge looks for an error that answers the request. One without an id answers
// it too: the server could not read so far.
func (o *overheard) judge() {
	answer := decodeError(o.message)
	if !o.closed && !o.tooLong && answer != nil && (answer.ID.value == nil || answer.ID.equal(o.sent)) {
		o.exchange.Refused(answer.Error.Code)
	}
	o.message, o.tooLong = o.message[:0], false
}

// overheardEvents judges the data of each event for itself.
type overheardEvents struct {
	*overheard
	line []byte
}

// Read passes on what it keeps.
func (o *overheardEvents) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	for part := range bytes.Lines(p[:n]) {
		if len(o.line) <= peekLimit {
			o.line = append(o.line, part...)
		}
		if part[len(part)-1] == '\n' {
			o.endLine()
		}
	}
	return n, err
}

// endLine is called at the end of a line; an empty one ends an event.
func (o *overheardEvents) endLine() {
	line := bytes.TrimRight(o.line, "\r\n")
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		o.keep(data)
	} else if len(line) == 0 {
		o.judge()
	}
	o.line = o.line[:0]
}
