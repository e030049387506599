//go:build unix

package connect

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Once a process is gone, the system may give its number to another.
func TestClosingAgainKillsNobodyElse(t *testing.T) {
	t.Parallel()
	dialled, err := Stdio{Command: "cat"}.Dial(t.Context())
	require.NoError(t, err)
	process := dialled.(*stdioTransport)
	require.NoError(t, process.Start(context.Background()))
	require.NoError(t, process.Close())

	bystander := exec.Command("cat")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := bystander.StdinPipe()
	require.NoError(t, err)
	stdout, err := bystander.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, bystander.Start())
	process.child.cmd.Process = bystander.Process
	require.NoError(t, process.Close())

	_, err = io.WriteString(stdin, "still here")
	require.NoError(t, err)
	require.NoError(t, stdin.Close())
	said, err := io.ReadAll(stdout)
	require.NoError(t, err)
	assert.Equal(t, "still here", string(said))
	assert.NoError(t, bystander.Wait())
}
