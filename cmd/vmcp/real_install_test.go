//go:build real

package main

import (
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-candor/candor/internal/npm"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// realPackages are servers and clients that others wrote, in the versions whose
// behaviour the tests state.
var realPackages = []string{
	"@modelcontextprotocol/server-everything@2026.8.31",
	"@modelcontextprotocol/server-filesystem@2026.8.31",
	"@hubspot/mcp-server@0.4.0",
	"drawio-mcp-server@2.3.0",
	"@wonderwhy-er/desktop-commander@0.2.52",
	"kubernetes-mcp-server-linux-amd64@0.0.67",
	"@temporal-cortex/cortex-mcp-linux-x64@0.9.1",
	"effect-mcp@0.1.16",
	"@modelcontextprotocol/server-postgres@0.6.2",
	"@modelcontextprotocol/inspector@0.15",
	"mcp-remote@0.15.1",
}

// scratch is the folder that the packages are installed in.
var scratch string

func TestMain(m *testing.M) {
	beMain()
	scratch = npm.MustInstall("the suite against real servers", "servers", realPackages...)
	goleak.VerifyTestMain(m)
}

// script is a file of an installed package.
func script(path string) string { return filepath.Join(scratch, "node_modules", path) }

// background runs a server until the test ends and waits until it listens.
func background(t *testing.T, address, command string, args ...string) {
	t.Helper()
	server := exec.Command(command, args...)
	server.Stdout, server.Stderr = io.Discard, io.Discard
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond, "%s does not listen on %s", command, address)
}

// freePort is a port that nobody listens on at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().(*net.TCPAddr).Port
}
