package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/lifetime"
)

// drainTime is how long requests may take to be answered once their input has
// ended.
const drainTime = 5 * time.Second

// ServeStdio serves one client over in and out, a message a line, until in has
// ended and what was asked is answered, 5 s at most, or until ctx ends or the
// endpoint is shut down. It returns nil then, and the error of in if that
// failed. A read of in or a write to out that does not end outlives it.
func (e *Endpoint) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	p := newPipe(ctx, e, out)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.read(ctx, in) }()
	go p.out.pump(ctx.Done())
	var err error
	hurry := ctx.Done()
	select {
	case err = <-ended:
		p.client.hangUp()
		hurry = p.listening.Done()
	case <-ctx.Done():
	case <-e.ending.Done():
		hurry = e.life.Done()
	}
	p.endListening()
	p.drain(hurry)
	return err
}

// pipe is a connection over stdio.
type pipe struct {
	*Endpoint
	client       *Client
	out          *lines
	ready        chan struct{}   // closed when the client's last initialize is answered
	listening    context.Context // open streams end with it
	endListening context.CancelFunc
	requests     lifetime.Group
}

func newPipe(ctx context.Context, e *Endpoint, out io.Writer) *pipe {
	p := &pipe{Endpoint: e, out: &lines{outbox: newOutbox(e.Logger), out: out}, ready: make(chan struct{})}
	close(p.ready)
	p.client = newClient("", identityOf(ctx), p.out)
	p.client.gone = e.disconnected
	p.client.listen() // all the time
	p.listening, p.endListening = context.WithCancel(e.ending)
	return p
}

func (p *pipe) read(ctx context.Context, in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for ctx.Err() == nil {
		line, err := readLine(reader, p.Body)
		if len(line) > 0 && ctx.Err() == nil { // it may have ended meanwhile
			p.receive(ctx, line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLong):
			p.refuse(nil, &Failure{Code: mcp.INVALID_REQUEST, Message: fmt.Sprintf("the message is longer than %d bytes", p.Body)})
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		}
	}
	return nil
}

var errTooLong = errors.New("the line is too long")

// readLine returns a line without the white space around it, or nothing of one
// that is too long.
func readLine(reader *bufio.Reader, longest int64) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := reader.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if int64(len(bytes.TrimSpace(line))) > longest {
			line, tooLong = nil, true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// receive deals with one message.
func (p *pipe) receive(ctx context.Context, line []byte) {
	m, err := parse(line)
	if err != nil {
		p.refuse(m, err)
		return
	}
	switch m.shape() {
	case notification:
		p.notified(ctx, p.client, m)
	case answer:
		p.client.answered(m)
	default:
		p.answer(ctx, m)
	}
}

// refuse answers a message that no handler sees.
func (p *pipe) refuse(m *message, err error) {
	_ = p.out.answer(errorReply(m.replyID(), err).body) // a client that has left reads no more
}

// who returns the client of the connection, or that of a request which speaks
// protocol 2026-07-28.
func (p *pipe) who(m *message) (sender, error) {
	meta, err := metaOf(m.Params)
	if err != nil {
		return sender{}, err
	}
	client := p.client
	switch version := meta.ProtocolVersion(); {
	case mcp.IsModernProtocol(version):
		client, err = modern(p.client.identity, meta)
	case isUnsupported(version):
		err = unsupported(version)
	}
	return sender{client: client, meta: meta}, err
}

// answer answers a request without holding up what comes after it.
func (p *pipe) answer(ctx context.Context, m *message) {
	from, err := p.who(m)
	if err != nil {
		p.refuse(m, err)
		return
	}
	turn, err := p.admit(ctx, p.client, m) // it can be cancelled as soon as it was read
	if err != nil {
		p.refuse(m, err)
		return
	}
	before := p.ready
	answered := make(chan struct{})
	if m.Method == string(mcp.MethodInitialize) && !from.client.Modern() {
		p.ready = answered
	}
	if !p.requests.Go(func() {
		defer turn.done()
		defer close(answered)
		p.serveAfter(turn.ctx, before, from, m)
	}) {
		turn.done()
		p.refuse(m, errClosing)
	}
}

// serveAfter answers a request when the initialize before it is answered: what
// it means depends on that.
func (p *pipe) serveAfter(ctx context.Context, initialized <-chan struct{}, from sender, m *message) {
	if !from.client.Modern() {
		select {
		case <-initialized:
		case <-ctx.Done():
		}
	}
	asked := newRequest(ctx, from, m, p.out)
	asked.ending = p.listening.Done()
	answered := p.serve(ctx, asked)
	if errors.Is(context.Cause(ctx), errCancelled) {
		return // and wants no answer
	}
	if err := p.out.answer(answered.body); err != nil {
		p.Logger.WarnContext(ctx, "an answer could not be written", slog.String(events.KeyEvent, events.AnswerLost), slog.String(events.KeyMethod, m.Method), slog.String(events.KeyError, err.Error()))
	}
}

// drain waits for the requests that are being answered, but not for long once
// there is a hurry.
func (p *pipe) drain(hurry <-chan struct{}) {
	p.requests.Close()
	done := make(chan struct{})
	go func() {
		p.requests.Wait()
		_ = p.out.rest() // a client that has left reads no more
		p.client.leave(errGone)
		close(done)
	}()
	select {
	case <-done:
		return
	case <-hurry:
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		p.client.leave(errGone)
	}
}

// hangUp says that the client will answer no more.
func (c *Client) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silence()
}

// lines writes one message a line, as over stdio. What is sent waits in the
// outbox; an answer comes after all that was sent before it.
type lines struct {
	*outbox
	mu  sync.Mutex // one writes at a time
	out io.Writer
}

// answer writes an answer, and waits for that.
func (l *lines) answer(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.empty(); err != nil {
		return err
	}
	_, err := l.out.Write(line)
	return err
}

// rest writes what waits.
func (l *lines) rest() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.empty()
}

func (l *lines) empty() error {
	for {
		_, line, ok := l.next()
		if !ok {
			return nil
		}
		if _, err := l.out.Write(line); err != nil {
			return err
		}
	}
}

// pump writes what is sent until stop is closed.
func (l *lines) pump(stop <-chan struct{}) {
	for {
		select {
		case <-l.full:
			if l.rest() != nil {
				return
			}
		case <-stop:
			return
		}
	}
}
