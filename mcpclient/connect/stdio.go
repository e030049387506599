package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// Stdio is a server run as a child process that speaks over its standard input
// and output. A line of its output may have [wire.DefaultMaxBody] bytes at most,
// or as [WithMaxBody] says.
type Stdio struct {
	Command string
	Args    []string
	// Env is added to this process's environment.
	Env map[string]string
	// Dir is the working directory; empty means this process's.
	Dir string
	// Secrets are values, such as those in Args, that are masked like those of
	// Env where the server repeats them.
	Secrets []string
	// Stderr gets what the server writes to its standard error as well. It
	// must not block; once it fails it gets no more. The last that was written
	// is part of the error when the server fails to start.
	Stderr io.Writer
}

// Dial returns a transport that starts the process.
func (s Stdio) Dial(ctx context.Context) (transport.Interface, error) {
	return s.dial(ctx, options{})
}

func (s Stdio) dial(_ context.Context, o options) (transport.Interface, error) {
	if strings.TrimSpace(s.Command) == "" {
		return nil, &TargetError{"the command is empty", `give the program to run, such as "npx"`}
	}
	if err := s.checkDir(); err != nil {
		return nil, err
	}
	said := &tail{secrets: Secrets(s)}
	child, err := newProcess(func(ctx context.Context) *exec.Cmd { return s.command(ctx, said) })
	if err != nil {
		return nil, err
	}
	life, probe := newLifesign(), o.timeouts.Probe
	if mcp.IsModernProtocol(o.version) {
		probe = 0
	}
	said.life = life
	output := newLines(life.of(child.fromOut), cmp.Or(max(o.maxBody, 0), wire.DefaultMaxBody))
	in := &input{File: child.toChild}
	return &stdioTransport{
		Stdio: transport.NewIO(output, in, nil), in: in, child: child, output: output, said: said, life: life, probe: probe,
	}, nil
}

// String returns the name of the command, without its arguments: they may be
// secrets.
func (s Stdio) String() string {
	if strings.TrimSpace(s.Command) == "" {
		return "no command"
	}
	return filepath.Base(s.Command)
}

func (s Stdio) secrets() []string {
	return slices.AppendSeq(slices.Clone(s.Secrets), maps.Values(s.Env))
}

// errDir says what is wrong with Dir: the system would blame the command.
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

func (s Stdio) command(ctx context.Context, said *tail) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Command, s.Args...)
	cmd.Dir = s.Dir
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = said
	if s.Stderr != nil {
		cmd.Stderr = &copied{said, s.Stderr}
	}
	return cmd
}

type stdioTransport struct {
	*transport.Stdio
	child  *process
	output *lines
	said   *tail
	in     *input
	life   *lifesign
	probe  time.Duration // how long server/discover may stay unanswered, once there is a sign of life; 0 for the whole time
}

// Start starts the process.
func (t *stdioTransport) Start(ctx context.Context) error {
	if err := t.child.start(ctx); err != nil {
		return err
	}
	return t.Stdio.Start(ctx)
}

// SendRequest says so if it was the length of a line that ended the connection, or
// the time for the probe that passed.
func (t *stdioTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	wire.ExchangeOf(ctx).Reached(wire.Peer{Transport: "pipe"})
	if request.Method == string(mcp.MethodServerDiscover) && t.probe > 0 {
		probing, cancel := t.probing(ctx)
		defer cancel()
		ctx = probing
	}
	response, err := send(ctx, t.Stdio, request)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return nil, fmt.Errorf("%w: %w", errSilent, context.DeadlineExceeded)
	}
	return response, t.explained(err)
}

// alive is closed with the first sign of life; it is looked for until ctx ends.
func (t *stdioTransport) alive(ctx context.Context) <-chan struct{} {
	go t.life.watch(ctx, t.in)
	return t.life.seen
}

// SendNotification says so too.
func (t *stdioTransport) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	return t.explained(t.Stdio.SendNotification(ctx, notification))
}

func (t *stdioTransport) explained(err error) error {
	if failure.Of(err).Kind == failure.Ended && t.output.failed.Load() {
		return fmt.Errorf("%w: %w", err, t.output.err())
	}
	return err
}

// Close ends the process: its standard input is closed, then come SIGTERM and
// SIGKILL. How it ended is no error.
func (t *stdioTransport) Close() error {
	err := t.Stdio.Close()
	return errors.Join(err, t.child.end())
}

// lastWords returns the last that the server has written to its standard error,
// with its secrets masked. All that it wrote is waited for, but not for long; of a
// process that ended by itself until no child of its own can write any more.
func (t *stdioTransport) lastWords(why error) string {
	if t.child.cmd != nil {
		grace := stderrDelay
		if failure.Of(why).Kind == failure.Ended {
			grace = stderrGrace
		}
		t.child.hasEnded(grace)
	}
	return t.said.String()
}
