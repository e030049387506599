//go:build unix && !real

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is vmcp as a process of its own.
type process struct {
	*exec.Cmd
	family *os.File // ends when the process and all that it started are gone
	log    bytes.Buffer
}

// launch starts vmcp serve on a configuration file.
func launch(t *testing.T, config string, out io.Writer, args ...string) (p *process, in io.WriteCloser) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	// The system hands the descriptor on to the children of the process.
	family, held, err := os.Pipe()
	require.NoError(t, err)
	p = &process{Cmd: exec.CommandContext(ctx, binary, append([]string{"serve", "--config", config}, args...)...), family: family}
	p.Env = append(os.Environ(), mainVariable+"=1", "GORACE=atexit_sleep_ms=0")
	p.Stdout, p.Stderr, p.ExtraFiles = out, &p.log, []*os.File{held}
	in, err = p.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	require.NoError(t, held.Close())
	t.Cleanup(func() { assert.NoError(t, family.Close()) })
	return p, in
}

// ended waits for the end of the process, which must be a good one.
func (p *process) ended(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Wait(), "the exit status; the log: %s", &p.log)
	require.NoError(t, p.family.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err := io.Copy(io.Discard, p.family)
	require.NoError(t, err, "it left a child behind")
}

// launchHTTP waits for the endpoint of vmcp serve and connects to it.
func launchHTTP(t *testing.T, config string) (p *process, c *mcpclient.Client, endpoint string) {
	t.Helper()
	reader, writer := io.Pipe()
	p, _ = launch(t, config, writer, "--listen", "127.0.0.1:0")
	t.Cleanup(func() { _ = writer.Close() })
	lines := bufio.NewScanner(reader)
	for endpoint == "" && lines.Scan() {
		endpoint = regexp.MustCompile(`http://\S+/mcp`).FindString(lines.Text())
	}
	require.NotEmpty(t, endpoint)
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	c, err := connect.Open(t.Context(), connect.HTTP{URL: endpoint})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return p, c, endpoint
}

// oneChild writes a configuration with a stdio server, which is this command
// too, and with what else is given.
func oneChild(t *testing.T, others map[string]any) string {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	script := write(t, "script.json", `{"capabilities": {"tools": {}}, "answers": {
		"tools/list": [{"result": {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}}],
		"tools/call": [{"result": {"content": [{"type": "text", "text": "done"}]}}]}}`)
	servers := map[string]any{"child": map[string]any{"command": binary, "args": []string{"badserver", "--stdio", "--script", script}}}
	for name, other := range others {
		servers[name] = other
	}
	config, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	return write(t, "servers.json", string(config))
}

// slow is a server whose tool says when it is called, and answers when it may.
type slow struct{ called, may chan struct{} }

func newSlow(t *testing.T) (s slow, entry map[string]any) {
	t.Helper()
	s = slow{make(chan struct{}), make(chan struct{})}
	inner := server.NewMCPServer("slow", "1")
	inner.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.called <- struct{}{}
		select {
		case <-s.may:
			return mcp.NewToolResultText("at last"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return s, map[string]any{"url": newLoopback(t, server.NewStreamableHTTPServer(inner))}
}

func call(ctx context.Context, c *mcpclient.Client, tool string) (string, error) {
	result, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool}})
	if err != nil {
		return "", err
	}
	return result.Content[0].(mcp.TextContent).Text, nil
}

// idle opens a connection that an endpoint closes as soon as it shuts down.
func idle(t *testing.T, endpoint string) *bufio.Reader {
	t.Helper()
	address, err := url.Parse(endpoint)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", address.Host)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: "+address.Host+"\r\n\r\n")
	require.NoError(t, err)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return reader
}

type answer struct {
	text string
	err  error
}

func TestASignalLetsCallsInFlightEnd(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			slow, entry := newSlow(t)
			p, c, endpoint := launchHTTP(t, oneChild(t, map[string]any{"slow": entry}))
			text, err := call(t.Context(), c, "child_run")
			require.NoError(t, err)
			require.Equal(t, "done", text)
			down := idle(t, endpoint)
			answers := make(chan answer, 1)
			go func() {
				text, err := call(context.Background(), c, "slow_wait")
				answers <- answer{text, err}
			}()
			<-slow.called
			began := time.Now()
			require.NoError(t, p.Process.Signal(signal))
			_, err = down.ReadByte()
			require.ErrorIs(t, err, io.EOF)
			close(slow.may)
			assert.Equal(t, answer{"at last", nil}, <-answers)
			p.ended(t)
			assert.Less(t, time.Since(began), drainTime)
		})
	}
}

func TestASignalEndsCallsThatDoNotEndThemselves(t *testing.T) {
	t.Parallel()
	slow, entry := newSlow(t)
	p, c, _ := launchHTTP(t, oneChild(t, map[string]any{"slow": entry}))
	ended := make(chan error, 1)
	go func() {
		_, err := call(context.Background(), c, "slow_wait")
		ended <- err
	}()
	<-slow.called
	began := time.Now()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	var broken *transport.Error
	require.ErrorAs(t, <-ended, &broken)
	p.ended(t)
	assert.GreaterOrEqual(t, time.Since(began), drainTime)
	assert.Less(t, time.Since(began), drainTime+5*time.Second)
}

func TestServeOverStdioLeavesNoChild(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process, io.Closer) error{
		"the end of its input": func(_ *process, in io.Closer) error { return in.Close() },
		"SIGINT":               func(p *process, _ io.Closer) error { return p.Process.Signal(syscall.SIGINT) },
		"SIGTERM":              func(p *process, _ io.Closer) error { return p.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, writer := io.Pipe()
			p, in := launch(t, oneChild(t, nil), writer, "--stdio")
			_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n")
			require.NoError(t, err)
			line, err := bufio.NewReader(reader).ReadString('\n')
			require.NoError(t, err)
			assert.Contains(t, line, `"serverInfo":{"name":"vmcp"`)
			require.NoError(t, end(p, in))
			p.ended(t)
			require.NoError(t, writer.Close())
		})
	}
}
