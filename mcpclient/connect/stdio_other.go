//go:build !unix

package connect

import (
	"os"
	"os/exec"
)

func inOwnGroup(*exec.Cmd) {}

func killGroup(process *os.Process) { _ = process.Kill() }

// terminate has no gentler way there.
func terminate(process *os.Process) { _ = process.Kill() }
