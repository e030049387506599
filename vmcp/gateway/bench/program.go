package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is a process that was started here.
type program struct {
	command *exec.Cmd
	out     *bufio.Reader
	log     *bytes.Buffer
}

func start(ctx context.Context, name string, args ...string) (*program, error) {
	p := &program{command: exec.CommandContext(ctx, name, args...), log: new(bytes.Buffer)}
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGINT) }
	p.command.WaitDelay = 10 * time.Second
	p.command.Stderr = p.log
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.command.Start()
}

var endpoint = regexp.MustCompile(`http://\S+/mcp`)

// next returns the next endpoint that the program prints, or "" if it ends.
func (p *program) next() string {
	for {
		line, err := p.out.ReadString('\n')
		if found := endpoint.FindString(line); found != "" || err != nil {
			return found
		}
	}
}

// stop ends the program as Ctrl-C would. How it ends is not what is measured.
func (p *program) stop() error {
	if err := p.command.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := p.command.Wait(); !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	return nil
}

// memory is how much of the process is in memory, now and at most so far, in
// MB, as Linux tells it; elsewhere it is 0.
func (p *program) memory() (now, most float64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, 0
	}
	return megabytes(string(status), "VmRSS:"), megabytes(string(status), "VmHWM:")
}

func megabytes(status, field string) float64 {
	_, rest, _ := strings.Cut(status, field)
	kilobytes := strings.Fields(rest)
	if len(kilobytes) == 0 {
		return 0
	}
	return number(kilobytes[0]) / 1024
}

// ticksPerSecond is the unit of Linux's /proc/PID/stat.
const ticksPerSecond = 100

// cpu is the processor time that the process has used so far.
func (p *program) cpu() time.Duration { return cpu(strconv.Itoa(p.command.Process.Pid)) }

// cpu is the processor time that a process, "self" for this one, has used so
// far, as Linux tells it; elsewhere it is 0. Unlike latency it hardly depends
// on what else the machine does.
func cpu(process string) time.Duration {
	stat, err := os.ReadFile("/proc/" + process + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, system := number(fields[11]), number(fields[12])
	return time.Duration((user + system) / ticksPerSecond * float64(time.Second))
}

// number is 0 for what is none.
func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}
