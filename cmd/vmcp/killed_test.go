//go:build unix && !real

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startBadserver runs vmcp badserver at an address until it is killed, or the
// test ends, and returns where it is.
func startBadserver(t *testing.T, address, script string) (p *process, at string) {
	t.Helper()
	file := write(t, "script.json", script)
	for range 100 { // somebody's connection may have got the port in the meantime
		if p, at = tryBadserver(t, address, file); at != "" {
			return p, at
		}
	}
	require.Fail(t, "the server does not start", p.log.String())
	return p, at
}

// tryBadserver returns no address if the server ended instead.
func tryBadserver(t *testing.T, address, file string) (p *process, at string) {
	t.Helper()
	reader, writer := io.Pipe()
	p, _ = start(t, writer, "badserver", "--listen", address, "--script", file)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Wait()
		_ = writer.Close()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-ended
	})
	line, _ := bufio.NewReader(reader).ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return p, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
}

// busyScript is a server whose tool takes a while, so that there are calls in flight.
const busyScript = `{"capabilities": {"tools": {}}, "answers": {
	"tools/list": [{"result": {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}}],
	"tools/call": [{"delay": "20ms", "result": {"content": [{"type": "text", "text": "done"}]}}]}}`

// crowd calls a tool of each of two backends by turns, from many clients, until
// it is told to stop.
type crowd struct {
	stop    chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	answered int      // by the one that is killed
	refused  []string // of that one: what callers were told
	others   int      // calls of the one that is spared
	broken   []string // of that one
}

func (c *crowd) run(client *mcpclient.Client) {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		killed, spared := outcomeOf(client, "killed_run"), outcomeOf(client, "spared_run")
		c.mu.Lock()
		c.others++
		if spared != "" {
			c.broken = append(c.broken, spared)
		}
		if killed != "" {
			c.refused = append(c.refused, killed)
		} else {
			c.answered++
		}
		c.mu.Unlock()
	}
}

func (c *crowd) counts() (answered, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered, len(c.refused)
}

// outcomeOf is the error that a call came to, in words, or empty.
func outcomeOf(client *mcpclient.Client, tool string) string {
	result, err := client.CallTool(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool}})
	switch {
	case err != nil:
		return "error: " + err.Error()
	case result.IsError:
		return "result: " + result.Content[0].(mcp.TextContent).Text
	default:
		return ""
	}
}

func TestKillingABackendOfServeUnderCallers(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{mcp.ProtocolVersion20251125, mcp.ProtocolVersion20260728} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			first, address := startBadserver(t, "127.0.0.1:0", busyScript)
			_, spared := startBadserver(t, "127.0.0.1:0", busyScript)
			retry := map[string]string{"initial": "50ms", "max": "200ms"}
			p, endpoint := launchEndpoint(t, configFileOf(t, map[string]any{
				"killed": map[string]any{"url": "http://" + address + "/", "retry": retry},
				"spared": map[string]any{"url": "http://" + spared + "/", "retry": retry},
			}))
			c := &crowd{stop: make(chan struct{})}
			ending := sync.OnceFunc(func() {
				close(c.stop)
				c.running.Wait()
			})
			defer ending()
			for range 32 {
				client := clientOf(t, endpoint, connect.WithProtocolVersion(protocol))
				c.running.Go(func() { c.run(client) })
			}
			eventually := func(what string, is func() bool) {
				require.Eventually(t, is, 30*time.Second, 5*time.Millisecond, what)
			}
			eventually("calls before", func() bool { answered, _ := c.counts(); return answered > 100 })
			require.NoError(t, first.Process.Kill())
			eventually("refusals", func() bool { _, refused := c.counts(); return refused > 100 })
			assert.Equal(t, vmcp.Failed, stateAt(t, endpoint, "killed").State)
			began := time.Now()
			startBadserver(t, address, busyScript)
			before, _ := c.counts()
			eventually("calls after", func() bool { answered, _ := c.counts(); return answered > before+100 })
			t.Logf("100 calls were answered %s after it was started again", time.Since(began))
			assert.Equal(t, vmcp.Ready, stateAt(t, endpoint, "killed").State)
			ending()
			c.assertClear(t)
			require.NoError(t, p.Process.Signal(syscall.SIGINT))
			p.ended(t)
		})
	}
}

// assertClear sees that nobody but the callers of the killed backend was hit, and
// that these were told which backend it is.
func (c *crowd) assertClear(t *testing.T) {
	t.Helper()
	assert.Empty(t, c.broken, "of %d calls of the other backend", c.others)
	said := map[string]int{}
	for _, refusal := range c.refused {
		assert.Contains(t, refusal, `"killed"`, "it is named")
		said[regexp.MustCompile(`\d+`).ReplaceAllString(refusal, "N")]++
	}
	t.Logf("%d calls of the other backend; of the killed one %d answered, %d refused with:", c.others, c.answered, len(c.refused))
	for text, times := range said {
		t.Logf("%5d × %s", times, text)
	}
}

// stateAt is what GET /status says of a backend.
func stateAt(t *testing.T, endpoint, id string) vmcp.BackendReport {
	t.Helper()
	var report vmcp.Report
	answer := get(t, strings.TrimSuffix(endpoint, "/mcp")+"/status", nil)
	require.NoError(t, json.Unmarshal([]byte(answer.text), &report), answer.text)
	b, ok := report.Backend(id)
	require.True(t, ok, fmt.Sprintf("%s: %s", id, answer.text))
	return b
}
