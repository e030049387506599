//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is vmcp as a process of its own.
type process struct {
	*exec.Cmd
	family *os.File // ends when the process and all that it started are gone
	log    mcptest.Journal
}

// launch starts vmcp serve on a configuration file.
func launch(t *testing.T, config string, out io.Writer, args ...string) (p *process, in io.WriteCloser) {
	t.Helper()
	return start(t, out, append([]string{"serve", "--config", config}, args...)...)
}

// start starts vmcp.
func start(t *testing.T, out io.Writer, args ...string) (p *process, in io.WriteCloser) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	// The system hands the descriptor on to the children of the process.
	family, held, err := os.Pipe()
	require.NoError(t, err)
	p = &process{Cmd: exec.CommandContext(ctx, binary, args...), family: family}
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
	require.NoError(t, p.Wait(), "the exit status; the log: %s", p.log.String())
	p.assertLeavesNoChild(t)
}

func (p *process) assertLeavesNoChild(t *testing.T) {
	t.Helper()
	require.NoError(t, p.family.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err := io.Copy(io.Discard, p.family)
	require.NoError(t, err, "it left a child behind")
}

// openAt connects until the test ends.
func openAt(t *testing.T, target connect.Target, options ...connect.Option) *mcpclient.Client {
	t.Helper()
	c, err := connect.To(target, options...).Open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// launchEndpoint waits for the endpoint that vmcp serve prints.
func launchEndpoint(t *testing.T, config string, args ...string) (p *process, endpoint string) {
	t.Helper()
	reader, writer := io.Pipe()
	p, _ = launch(t, config, writer, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	t.Cleanup(func() { _ = writer.Close() })
	for lines := bufio.NewScanner(reader); endpoint == "" && lines.Scan(); {
		endpoint = regexp.MustCompile(`^MCP endpoint: (\S+)|.*`).FindStringSubmatch(lines.Text())[1]
	}
	require.NotEmpty(t, endpoint, p.log.String())
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return p, endpoint
}
