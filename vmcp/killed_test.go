package vmcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listenVariable makes the test binary a server over HTTP at the address; see
// TestMain. scriptVariable is what it plays.
const listenVariable = "VMCP_TEST_LISTEN"

// runEndpoint is the main function of that server. It says where it listens,
// and ends with its standard input, so with the test.
func runEndpoint(address, encoded string) int {
	var script badserver.Script
	if err := json.Unmarshal([]byte(encoded), &script); err != nil {
		return 1
	}
	listener, err := net.Listen("tcp", address)
	for tries := 0; err != nil && tries < 200; tries++ { // a client may have got the port in the meantime
		<-time.After(50 * time.Millisecond)
		listener, err = net.Listen("tcp", address)
	}
	if err != nil {
		return 1
	}
	fmt.Println(listener.Addr())
	go func() { _ = http.Serve(listener, badserver.New(script)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// endpoint is a server over HTTP in a process of its own.
type endpoint struct {
	address string
	process *exec.Cmd
	stdin   io.Closer
}

func startEndpoint(t *testing.T, address string, script badserver.Script) *endpoint {
	t.Helper()
	encoded, err := json.Marshal(script)
	require.NoError(t, err)
	cmd := exec.Command(thisProgram(t))
	cmd.Env = append(os.Environ(), listenVariable+"="+address, scriptVariable+"="+string(encoded), "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return &endpoint{address: strings.TrimSpace(line), process: cmd, stdin: stdin}
}

func (e *endpoint) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, e.process.Process.Kill())
	_ = e.process.Wait()
	_ = e.stdin.Close()
}

// callers call two backends by turns until they are told to stop.
type callers struct {
	session *vmcp.Session
	stop    chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	answered int // by the one that is killed
	others   int // calls of the other one
	failures []error
	broken   []error // of the one that nobody kills
}

func (c *callers) run() {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		_, err := callTool("killed_alpha")(context.Background(), c.session)
		_, other := callTool("spared_alpha")(context.Background(), c.session)
		c.mu.Lock()
		c.others++
		if other != nil {
			c.broken = append(c.broken, other)
		}
		if err != nil {
			c.failures = append(c.failures, err)
		} else {
			c.answered++
		}
		c.mu.Unlock()
	}
}

func (c *callers) counts() (answered, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered, len(c.failures)
}

func TestKillingAndRestartingABackendUnderCallers(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			script := serving("killed")
			script.Protocol, script.Session = protocol, protocol == legacy
			script.Answers["tools/call"][0].Delay = badserver.Duration(5 * time.Millisecond) // so that there are calls in flight
			first := startEndpoint(t, "127.0.0.1:0", script)
			spared := startEndpoint(t, "127.0.0.1:0", serving("spared"))
			defer spared.kill(t)
			to := func(id string, e *endpoint) vmcp.Backend {
				return vmcp.Backend{ID: id, Connector: connect.To(connect.HTTP{URL: "http://" + e.address + "/mcp"}),
					Retry: vmcp.Retry{Initial: 20 * time.Millisecond, Max: 100 * time.Millisecond}}
			}
			session := build(t, &vmcp.Builder{}, to("killed", first), to("spared", spared))
			heard := listen(session)

			c := &callers{session: session, stop: make(chan struct{})}
			for range 32 {
				c.running.Go(c.run)
			}
			eventually := func(what string, is func() bool) {
				require.Eventually(t, is, 20*time.Second, 5*time.Millisecond, what)
			}
			eventually("calls before", func() bool { answered, _ := c.counts(); return answered > 100 })
			first.kill(t)
			eventually("failures", func() bool { _, failed := c.counts(); return failed > 100 })
			assert.Equal(t, vmcp.Failed, reportOf(t, session.Report(), "killed").State)
			second := startEndpoint(t, first.address, script)
			defer second.kill(t)
			before, _ := c.counts()
			eventually("calls after", func() bool { answered, _ := c.counts(); return answered > before+100 })
			close(c.stop)
			c.running.Wait()

			assert.Empty(t, c.broken, "of %d calls of the other backend", c.others)
			for _, err := range c.failures {
				var unavailable *vmcp.UnavailableError
				var broken *transport.Error
				require.True(t, errors.As(err, &unavailable) || errors.As(err, &broken), "%v", err)
				assert.Contains(t, err.Error(), `backend "killed"`)
			}
			_, states := heard.take()
			assert.Equal(t, "killed failed", states[0])
			assert.Equal(t, "killed ready", states[len(states)-1])
			t.Logf("%d calls of the other backend, %d of the killed one answered, %d refused", c.others, c.answered, len(c.failures))
		})
	}
}

// A process that ends is missed at once, not at the next call.
func TestAProcessThatEndsIsMissedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPrograms(t)
	session := build(t, &vmcp.Builder{}, vmcp.Backend{
		ID: "a", Connector: connect.To(p.stdio(t, serving("a"))), Retry: vmcp.Retry{Initial: 50 * time.Millisecond}})
	states := make(chan vmcp.BackendReport, 8)
	session.OnState(func(r vmcp.BackendReport) { states <- r })
	process, err := os.FindProcess(p.await(t, asking("tools/list", 1))[0].pid)
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	require.NoError(t, process.Release())
	failed := <-states
	assert.Equal(t, vmcp.Failed, failed.State)
	assert.Contains(t, failed.Reason, "the process has ended")
	assert.Contains(t, failed.Remedy, "the server ended")
	assert.Equal(t, vmcp.Ready, (<-states).State, "it is started again")
	text, err := callTool("a_alpha")(t.Context(), session)
	require.NoError(t, err)
	assert.Equal(t, "a", text)
	require.NoError(t, session.Close())
	p.await(t, none(2))
}

// The stream of the older transport ends with the server, and that is noticed.
func TestAnEventStreamThatEndsIsMissedAtOnce(t *testing.T) {
	t.Parallel()
	script := serving("a")
	script.Answers["ping"] = []badserver.Answer{{Cut: true}}
	target, _ := ways[4].serve(t, script, nil)
	session := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "a", Connector: connect.To(target), Retry: vmcp.Retry{Initial: 50 * time.Millisecond}})
	states := make(chan vmcp.BackendReport, 8)
	session.OnState(func(r vmcp.BackendReport) { states <- r })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.Error(t, session.Probe(ctx, "a"))
	assert.Equal(t, vmcp.Failed, (<-states).State)
	assert.Equal(t, vmcp.Ready, (<-states).State)
	_, err := session.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "res://a"}})
	require.NoError(t, err)
}
