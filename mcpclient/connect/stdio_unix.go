//go:build unix

package connect

import (
	"os"
	"os/exec"
	"syscall"
)

// inOwnGroup gives the process a group of its own: a Ctrl-C in the terminal
// does not reach it before its client has closed it, and what it starts can be
// ended with it.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		killGroup(cmd.Process)
		return nil
	}
}

// killGroup ends what is left of the process's group; none left is no error.
func killGroup(process *os.Process) {
	_ = syscall.Kill(-process.Pid, syscall.SIGKILL)
}

// terminate asks the process to end.
func terminate(process *os.Process) { _ = process.Signal(syscall.SIGTERM) }
