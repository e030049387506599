//go:build real

package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fixturesURL starts the fixtures and returns their endpoint.
func fixturesURL(t *testing.T, dir string) string {
	t.Helper()
	return start(t, filepath.Join(dir, "fixtures"))
}

// gatewayURL starts vmcp serve before a server, to which it speaks this
// protocol, and returns its endpoint. It leaves the server's names as they are.
func gatewayURL(t *testing.T, dir, server, protocol string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"mcpServers": {"fixtures": {"type": "http", "url": %q, "protocolVersion": %q}}, "gateway": {"names": "none", "statusTool": false}}`, server, protocol)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	return start(t, filepath.Join(dir, "vmcp"), "serve", "--config", config, "--listen", "127.0.0.1:0")
}

// start starts a program and returns the first MCP endpoint in its output. The
// program ends with the test: at the end of its input or at an interrupt,
// whichever it heeds.
func start(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program, args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second
	log := &logged{t: t}
	command.Stderr = log
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewReader(out)
	found := endpointIn(lines)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		cancel()
		<-drained
		_ = command.Wait() // ended by an interrupt
		log.tell()
	})
	require.NotEmpty(t, found, "%s did not say where it listens", program)
	return found
}

var endpoint = regexp.MustCompile(`http://\S+/mcp`)

func endpointIn(lines *bufio.Reader) string {
	for {
		line, err := lines.ReadString('\n')
		if found := endpoint.FindString(line); found != "" || err != nil {
			return found
		}
	}
}

// logged keeps what a program logs for a test that fails.
type logged struct {
	t    *testing.T
	text []byte
}

func (l *logged) Write(p []byte) (int, error) {
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *logged) tell() {
	if l.t.Failed() {
		l.t.Logf("%s", l.text[max(0, len(l.text)-8<<10):])
	}
}
