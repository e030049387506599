//go:build unix && !real

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// launchHTTP waits for the endpoint of vmcp serve and connects to it.
func launchHTTP(t *testing.T, config string, args ...string) (p *process, c *mcpclient.Client, endpoint string) {
	t.Helper()
	p, endpoint = launchEndpoint(t, config, args...)
	return p, openAt(t, connect.HTTP{URL: endpoint}), endpoint
}

// childOf is the configuration of a server that is this command: a badserver
// over stdio.
func childOf(t *testing.T, script string) map[string]any {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	return map[string]any{
		"command": binary, "args": []string{"badserver", "--stdio", "--script", write(t, "script.json", script)},
		"env": map[string]string{mainVariable: "1"},
	}
}

// configFileOf writes a configuration of servers, and of the gateway.
func configFileOf(t *testing.T, servers map[string]any, gateway ...map[string]any) string {
	t.Helper()
	document := map[string]any{"mcpServers": servers}
	for _, settings := range gateway {
		document["gateway"] = settings
	}
	config, err := json.Marshal(document)
	require.NoError(t, err)
	return write(t, "servers.json", string(config))
}

// oneChild writes a configuration with a stdio server, which is this command
// too, and with what else is given.
func oneChild(t *testing.T, others map[string]any) string {
	t.Helper()
	servers := map[string]any{"child": childOf(t, `{"capabilities": {"tools": {}}, "answers": {
		"tools/list": [{"result": {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}}],
		"tools/call": [{"result": {"content": [{"type": "text", "text": "done"}]}}]}}`)}
	maps.Copy(servers, others)
	return configFileOf(t, servers)
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

// drainTime is how long calls in flight may take to end on shutdown.
var drainTime = config.DefaultGateway().DrainTimeout

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
	require.ErrorContains(t, <-ended, "the gateway is shutting down", "the caller is told")
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

// Who presses Ctrl-C again does not want to wait for calls in flight.
func TestASecondCtrlCEndsServeAtOnce(t *testing.T) {
	t.Parallel()
	slow, entry := newSlow(t)
	file := oneChild(t, map[string]any{"slow": entry})
	rewrite(t, file, `{"mcpServers"`, `{"gateway": {"drainTimeout": "10m"}, "mcpServers"`)
	p, c, endpoint := launchHTTP(t, file)
	down := idle(t, endpoint)
	ended := make(chan error, 1)
	go func() {
		_, err := call(context.Background(), c, "slow_wait")
		ended <- err
	}()
	<-slow.called
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	_, err := down.ReadByte()
	require.ErrorIs(t, err, io.EOF, "it shuts down")
	began := time.Now()
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	_ = p.Wait()
	assert.Equal(t, 130, p.ProcessState.ExitCode())
	assert.Less(t, time.Since(began), 5*time.Second)
	require.Error(t, <-ended)
	p.assertLeavesNoChild(t)
}
