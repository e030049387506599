package connect_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/require"
)

// The variables that make the test binary a program; see TestMain.
const (
	programVariable = "CONNECT_TEST_PROGRAM"
	scriptVariable  = "CONNECT_TEST_SCRIPT"
	leashVariable   = "CONNECT_TEST_LEASH"
)

// runProgram is the main function of a program. Each one is on a leash: a
// connection on which it says its name and passes on what it reads, and which
// the system closes when it is gone.
func runProgram(name string) int {
	held, err := net.Dial("tcp", os.Getenv(leashVariable))
	if err != nil {
		return 1
	}
	fmt.Fprintln(held, name)
	fmt.Fprint(os.Stderr, strings.Join(os.Args[1:], "\n"))
	switch name {
	case "server":
		return serve(held, os.Stdin)
	case "chatty":
		return serve(held, io.TeeReader(os.Stdin, os.Stderr))
	case "slow": // to read
		<-time.After(slowness)
		return serve(held, os.Stdin)
	case "dumps":
		defer fmt.Fprint(os.Stderr, strings.Repeat("goroutine 1 [running]:\n", 1_000))
		return serve(held, os.Stdin)
	case "parent":
		if err := startSleeper(); err != nil {
			return 1
		}
		return serve(held, os.Stdin)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		serve(held, os.Stdin)
		sleep(held)
	case "sleeper":
		sleep(held)
	case "where":
		where, _ := os.Getwd()
		fmt.Fprintf(os.Stderr, "in %s with %q\n", where, os.Args[1:])
	}
	return 3
}

// slowness is how long a slow program does not read.
const slowness = 400 * time.Millisecond

// serve plays the script until its standard input ends.
func serve(held io.Writer, in io.Reader) int {
	var script badserver.Script
	if err := json.Unmarshal([]byte(os.Getenv(scriptVariable)), &script); err != nil {
		return 1
	}
	in = io.TeeReader(in, held)
	if err := badserver.New(script).Serve(context.Background(), in, os.Stdout); err != nil {
		return 4
	}
	return 0
}

// startSleeper starts a program that lives on and keeps stderr open.
func startSleeper() error {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), programVariable+"=sleeper")
	child.Stderr = os.Stderr
	return child.Start()
}

// sleep returns when the test is over.
func sleep(held io.Reader) { _, _ = io.Copy(io.Discard, held) }

// leash holds the programs that a test starts.
type leash struct {
	listener net.Listener
	readers  sync.WaitGroup

	mu       sync.Mutex
	programs []*program
	changed  chan struct{}
}

// program is one process as the test sees it.
type program struct {
	name  string
	asked []string // the methods of the messages that it has read
	ended bool
}

func newLeash(t *testing.T) *leash {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &leash{listener: listener, changed: make(chan struct{})}
	l.readers.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.readers.Wait()
	})
	return l
}

// accept ends, and with it every program, when the listener is closed.
func (l *leash) accept() {
	var held []net.Conn
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			break
		}
		held = append(held, conn)
		p := &program{}
		l.change(func() { l.programs = append(l.programs, p) })
		l.readers.Go(func() { l.read(conn, p) })
	}
	for _, conn := range held {
		_ = conn.Close()
	}
}

func (l *leash) read(conn io.Reader, p *program) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var message struct{ Method string }
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			l.change(func() { p.name = lines.Text() })
			continue
		}
		l.change(func() { p.asked = append(p.asked, message.Method) })
	}
	l.change(func() { p.ended = true })
}

func (l *leash) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.changed)
	l.changed = make(chan struct{})
}

// seen returns the programs of that name in the order they started.
func (l *leash) seen(name string) (programs []program, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.programs {
		if p.name == name {
			programs = append(programs, program{p.name, slices.Clone(p.asked), p.ended})
		}
	}
	return programs, l.changed
}

// await returns the programs of that name once they are as wanted.
func (l *leash) await(t *testing.T, name string, wanted func([]program) bool) []program {
	t.Helper()
	deadline := soon(t)
	for {
		programs, changed := l.seen(name)
		if wanted(programs) {
			return programs
		}
		select {
		case <-changed:
		case <-deadline.Done():
			require.FailNow(t, "the programs are not as expected", "%s: %+v", name, programs)
		}
	}
}

// ended is what await waits for when n programs have started and none is left.
func ended(n int) func([]program) bool {
	return func(programs []program) bool {
		return len(programs) >= n && !slices.ContainsFunc(programs, func(p program) bool { return !p.ended })
	}
}

// stdio returns a target that starts the program.
func (l *leash) stdio(t *testing.T, name string, script badserver.Script) connect.Stdio {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	encoded, err := json.Marshal(script)
	require.NoError(t, err)
	return connect.Stdio{Command: binary, Env: map[string]string{
		programVariable: name,
		scriptVariable:  string(encoded),
		leashVariable:   l.listener.Addr().String(),
		"GORACE":        "atexit_sleep_ms=0", // else each costs a second
	}}
}

// says makes the program write to its standard error when it starts.
func says(target connect.Stdio, lines ...string) connect.Stdio {
	target.Args = lines
	return target
}
