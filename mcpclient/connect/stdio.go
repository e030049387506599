package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// Stdio is a server run as a child process that speaks over its standard input
// and output.
type Stdio struct {
	Command string
	Args    []string
	// Env is added to this process's environment.
	Env map[string]string
	// Dir is the working directory; empty means this process's.
	Dir string
	// Stderr gets what the server writes to its standard error as well; it
	// must not block; once it fails it gets no more. The last of it is part of the error when the server
	// fails to start.
	Stderr io.Writer
}

// Dial returns a transport that starts the process.
func (s Stdio) Dial(context.Context) (transport.Interface, error) {
	if s.Command == "" {
		return nil, errors.New("the command is empty")
	}
	if err := s.checkDir(); err != nil {
		return nil, err
	}
	t := &stdioTransport{said: &tail{secrets: s.secrets()}}
	t.Stdio = transport.NewStdioWithOptions(s.Command, nil, s.Args, transport.WithCommandFunc(
		func(ctx context.Context, command string, _ []string, args []string) (*exec.Cmd, error) {
			t.cmd = s.command(ctx, command, args, t.said)
			return t.cmd, nil
		}))
	return t, nil
}

// String returns the name of the command, without its arguments: they may be
// secrets.
func (s Stdio) String() string { return filepath.Base(s.Command) }

// errDir is that the system would rather blame the command for.
var errDir = errors.New("the working directory cannot be used")

func (s Stdio) checkDir() error {
	if s.Dir == "" {
		return nil
	}
	info, err := os.Stat(s.Dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "chdir", Path: s.Dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errDir, err)
	}
	return nil
}

// stderrGrace is how long a process that has ended may keep its standard error
// open through a child of its own.
const stderrGrace = time.Second

func (s Stdio) command(ctx context.Context, command string, args []string, said *tail) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir = s.Dir
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = said
	if s.Stderr != nil {
		cmd.Stderr = &copied{said, s.Stderr}
	}
	cmd.WaitDelay = stderrGrace
	inOwnGroup(cmd)
	return cmd
}

type stdioTransport struct {
	*transport.Stdio
	cmd  *exec.Cmd // nil until started
	said *tail
	once sync.Once // a group's number may be another's later
}

// Close ends the process: its standard input is closed, then come SIGTERM and
// SIGKILL. How it ended no longer matters, so its exit status is no error.
func (t *stdioTransport) Close() error {
	err := t.Stdio.Close()
	if t.cmd == nil || t.cmd.Process == nil {
		return nil // it never started: its pipes are closed already
	}
	t.once.Do(func() { killGroup(t.cmd.Process) })
	var status *exec.ExitError
	if errors.As(err, &status) || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// lastWords returns the last that the server wrote to its standard error, with
// the values of its environment masked.
func (t *stdioTransport) lastWords() string { return t.said.String() }
