package vmcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/require"
)

// The variables that make the test binary a stdio server; see TestMain.
const (
	scriptVariable   = "VMCP_TEST_SCRIPT"   // what it plays, as JSON
	leashVariable    = "VMCP_TEST_LEASH"    // the address of the test's programs
	stubbornVariable = "VMCP_TEST_STUBBORN" // it ignores SIGTERM and the end of its input
)

// runProgram is the main function of the server. It passes on what it reads to
// the test, over a connection that the system closes when the program is gone.
func runProgram(encoded string) int {
	held, err := net.Dial("tcp", os.Getenv(leashVariable))
	if err != nil {
		return 1
	}
	fmt.Fprintln(held, os.Getpid())
	var script badserver.Script
	if err := json.Unmarshal([]byte(encoded), &script); err != nil {
		return 1
	}
	stubborn := os.Getenv(stubbornVariable) != ""
	if stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	err = badserver.New(script).Serve(context.Background(), io.TeeReader(os.Stdin, held), os.Stdout)
	if stubborn {
		_, _ = io.Copy(io.Discard, held) // until the test is over
	}
	if err != nil {
		return 4
	}
	return 0
}

// programs are the stdio servers that a test starts.
type programs struct {
	address string

	mu      sync.Mutex
	all     []*program
	changed chan struct{}
}

// program is one process as the test sees it.
type program struct {
	pid   int
	asked []string // the methods of the messages that it has read
	gone  bool
}

func newPrograms(t *testing.T) *programs {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &programs{address: listener.Addr().String(), changed: make(chan struct{})}
	var accepting sync.WaitGroup
	accepting.Go(func() { p.accept(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		accepting.Wait()
	})
	return p
}

// accept ends, and lets go of every program, when the listener is closed.
func (p *programs) accept(listener net.Listener) {
	var held []net.Conn
	var reading sync.WaitGroup
	for {
		conn, err := listener.Accept()
		if err != nil {
			break
		}
		held = append(held, conn)
		reading.Go(func() { p.read(conn, &program{}) })
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	reading.Wait()
}

func (p *programs) read(conn io.Reader, one *program) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var message struct{ Method string }
		if json.Unmarshal(lines.Bytes(), &message) == nil {
			p.change(func() { one.asked = append(one.asked, message.Method) })
			continue
		}
		p.change(func() {
			_, _ = fmt.Sscan(lines.Text(), &one.pid)
			p.all = append(p.all, one)
		})
	}
	p.change(func() { one.gone = true })
}

func (p *programs) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *programs) seen() (all []program, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		all = append(all, program{one.pid, slices.Clone(one.asked), one.gone})
	}
	return all, p.changed
}

// await returns the programs once they are as wanted.
func (p *programs) await(t *testing.T, wanted func([]program) bool) []program {
	t.Helper()
	deadline := soon(t)
	for {
		all, changed := p.seen()
		if wanted(all) {
			return all
		}
		select {
		case <-changed:
		case <-deadline.Done():
			require.FailNow(t, "the programs are not as expected", "%+v", all)
		}
	}
}

// asking is what await waits for when a program has got n requests of a method.
func asking(method string, n int) func([]program) bool {
	return func(all []program) bool {
		return slices.ContainsFunc(all, func(one program) bool {
			return strings.Count(strings.Join(one.asked, "\n"), method) >= n
		})
	}
}

// none is what await waits for when n programs have started and no one is left.
func none(n int) func([]program) bool {
	return func(all []program) bool {
		return len(all) >= n && !slices.ContainsFunc(all, func(one program) bool { return !one.gone })
	}
}

// stdio returns a target that starts a program.
func (p *programs) stdio(t *testing.T, script badserver.Script) connect.Stdio {
	t.Helper()
	encoded, err := json.Marshal(script)
	require.NoError(t, err)
	return connect.Stdio{Command: thisProgram(t), Env: map[string]string{
		scriptVariable: string(encoded),
		leashVariable:  p.address,
		"GORACE":       "atexit_sleep_ms=0", // else each costs a second
	}}
}

// stubborn returns a target that starts a program which has to be killed.
func (p *programs) stubborn(t *testing.T, script badserver.Script) connect.Stdio {
	t.Helper()
	target := p.stdio(t, script)
	target.Env[stubbornVariable] = "1"
	return target
}
