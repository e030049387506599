package badserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// ErrExit is what [Server.Serve] returns when the script says that the program
// exits. A main function should do so, with a code of its choice.
var ErrExit = errors.New("badserver: the script says exit")

// errOver ends a connection of which there is nothing more to say: it was cut,
// or the server was closed.
var errOver = errors.New("badserver: connection over")

// Serve is the stdio transport: one message per line, read from in, answered
// on out, each with a single Write. Requests are answered side by side, so one
// that hangs holds up none of the others.
//
// Serve takes both streams over and closes them, where they can be closed,
// before it returns: nil once in has ended (what was asked before is answered
// first, unless it is delayed or hangs), when the connection is cut, or when
// the server is closed; the error of ctx when that ends; [ErrExit] when the
// script says so; otherwise the error of reading in. Two things it cannot do:
// end a Read that closing in does not interrupt, as one of a terminal, which
// then outlives it; and, before ctx ends, give up on a client that has closed
// its side but left an answer unread in a pipe without a buffer.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &pipe{server: s, name: s.connection("stdio"), out: out}
	ctx, p.end = context.WithCancelCause(ctx)
	defer p.end(nil)
	defer context.AfterFunc(s.running, func() { p.end(errOver) })()
	leave := s.listen(p.notify)

	err := p.serve(ctx, in)
	leave()
	p.close(in)
	return err
}

// pipe is the stage of one stdio connection.
type pipe struct {
	server *Server
	name   string
	end    context.CancelCauseFunc
	acts   sync.WaitGroup

	mu    sync.Mutex
	out   io.Writer
	ended bool
}

func (p *pipe) serve(ctx context.Context, in io.Reader) error {
	playing, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- read(ctx, in, lines) }()
	for ctx.Err() == nil {
		select {
		case line := <-lines:
			p.take(playing, line)
		case err := <-failed:
			stop()
			p.drain(ctx)
			return outcome(ctx, err)
		case <-ctx.Done():
		}
	}
	return outcome(ctx, nil)
}

// read passes on the lines of in, until its end or that of ctx.
func read(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take records and chooses in the order of arrival, and plays side by side.
func (p *pipe) take(ctx context.Context, line []byte) {
	request := parse(line)
	request.Transport, request.Connection = "stdio", p.name
	p.server.record(request)
	a := p.server.act(request)
	p.acts.Go(func() { p.play(ctx, a) })
	if a.ends() {
		<-ctx.Done() // so that nothing later is taken
	}
}

func (p *pipe) play(ctx context.Context, a act) {
	if a.Noise != "" {
		p.write(terminated([]byte(a.Noise)))
	}
	switch a.play(ctx, p) {
	case cut:
		p.write(a.payload[:len(a.payload)/2])
		p.end(errOver)
	case exited:
		p.end(ErrExit)
	}
}

// drain lets the answers be written that are due, while someone reads them.
func (p *pipe) drain(ctx context.Context) {
	done := make(chan struct{})
	go func() { p.acts.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// outcome is what Serve returns.
func outcome(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOver):
		return nil
	case cause != nil:
		return cause
	default:
		return err
	}
}

func (p *pipe) notify(message []byte) { p.write(terminated(message)) }
func (p *pipe) answer(payload []byte) { p.write(terminated(payload)) }

func (p *pipe) write(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_, _ = p.out.Write(data) // a client that has left closes in, too
	}
}

// close closes both streams, which frees a blocked Write, and waits until
// nobody will write any more.
func (p *pipe) close(in io.Reader) {
	for _, end := range []any{in, p.out} {
		if closer, ok := end.(io.Closer); ok {
			_ = closer.Close()
		}
	}
	p.acts.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// terminated ends data with a line feed.
func terminated(data []byte) []byte {
	if bytes.HasSuffix(data, []byte("\n")) {
		return data
	}
	return append(bytes.Clone(data), '\n')
}
