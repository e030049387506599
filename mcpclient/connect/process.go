package connect

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// How long a process may take to end after its standard input was closed, and
// after each signal that follows.
const (
	inputGrace  = 2 * time.Second
	signalGrace = 3 * time.Second
	// stderrGrace is how long a process that has ended may keep its standard
	// error open through a child of its own.
	stderrGrace = time.Second
	// stderrDelay is how long what a process has just written to its standard
	// error may be on its way.
	stderrDelay = 50 * time.Millisecond
)

// process is a child process and the two pipes that lead to it.
type process struct {
	command func(context.Context) *exec.Cmd
	stdin   *os.File // of the child: read by it
	toChild *os.File
	stdout  *os.File // of the child: written by it
	fromOut *os.File

	cmd    *exec.Cmd     // nil until started
	exited chan struct{} // closed when the process has ended and was reaped
	ending sync.Once
	err    error // of ending
}

func newProcess(command func(context.Context) *exec.Cmd) (*process, error) {
	stdin, toChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromOut, stdout, err := os.Pipe()
	if err != nil {
		_, _ = stdin.Close(), toChild.Close()
		return nil, err
	}
	return &process{command: command, stdin: stdin, toChild: toChild, stdout: stdout, fromOut: fromOut, exited: make(chan struct{})}, nil
}

// start starts the process, which is killed when ctx ends.
func (p *process) start(ctx context.Context) error {
	cmd := p.command(ctx)
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = p.stdin, p.stdout, stderrGrace
	inOwnGroup(cmd)
	err := cmd.Start()
	_, _ = p.stdin.Close(), p.stdout.Close() // the child has its own
	if err != nil {
		return err
	}
	p.cmd = cmd
	go func() {
		_ = cmd.Wait() // how it ended does not matter
		close(p.exited)
	}()
	return nil
}

// end ends the process, once its standard input was closed, and what it left
// behind in its group.
func (p *process) end() error {
	p.ending.Do(func() { p.err = p.endOnce() })
	return p.err
}

func (p *process) endOnce() error {
	defer func() { _ = p.fromOut.Close() }()
	if p.cmd == nil {
		_, _ = p.stdin.Close(), p.stdout.Close()
		return nil
	}
	defer killGroup(p.cmd.Process)
	for _, then := range []struct {
		do    func(*os.Process)
		grace time.Duration
	}{{func(*os.Process) {}, inputGrace}, {terminate, signalGrace}, {killGroup, signalGrace}} {
		then.do(p.cmd.Process)
		if p.hasEnded(then.grace) {
			return nil
		}
	}
	return transport.ErrChildShutdownTimeout
}

func (p *process) hasEnded(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
