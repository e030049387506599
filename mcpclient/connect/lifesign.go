package connect

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-candor/candor/internal/lifetime"
)

// lifesign is the first sign that a process runs what it was started for: it has
// written something, or read what it was sent. What starts slowly is not silent.
type lifesign struct {
	once sync.Once
	seen chan struct{}
}

func newLifesign() *lifesign { return &lifesign{seen: make(chan struct{})} }

func (l *lifesign) see() { l.once.Do(func() { close(l.seen) }) }

// of gives it with what is read from a process.
func (l *lifesign) of(from io.Reader) io.Reader { return signed{from, l} }

type signed struct {
	io.Reader
	*lifesign
}

func (s signed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.see()
	return n, err
}

// looking is how often it is looked whether the process has read its input.
const looking = 10 * time.Millisecond

// input is what is written to a process.
type input struct {
	*os.File
	written atomic.Bool
}

func (i *input) Write(p []byte) (int, error) {
	n, err := i.File.Write(p)
	i.written.Store(true) // from now on an empty pipe means that it was read
	return n, err
}

// watch sees whether the process has read what was written to its input, until ctx
// ends.
func (l *lifesign) watch(ctx context.Context, in *input) {
	ticker := time.NewTicker(looking)
	defer ticker.Stop()
	for {
		if in.written.Load() && unread(in.File) == 0 {
			l.see()
		}
		select {
		case <-ticker.C:
		case <-l.seen:
			return
		case <-ctx.Done():
			return
		}
	}
}

// errSilent says that a process has not answered the probe in its time, which
// begins with its first sign of life.
var errSilent = errors.New("no answer to the probe")

// probing returns the context of the probe.
func (t *stdioTransport) probing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-t.life.seen:
		case <-ctx.Done():
			return
		}
		if lifetime.Sleep(ctx, t.probe) {
			cancel(errSilent)
		}
	}()
	return ctx, func() { cancel(nil) }
}
