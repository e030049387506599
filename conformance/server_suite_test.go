//go:build real

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serverSuites are of one release: it has every scenario that the older one has
// for servers, and checks each message against the protocol's schema as well.
var serverSuites = []serverSuite{{suite: suites[1], protocol: suites[0].protocol}, {suite: suites[1], protocol: suites[1].protocol}}

// serverSuite is a release of the suite, run with a protocol of its choice.
type serverSuite struct {
	suite
	protocol string
}

// serverScenarios are the names of the scenarios for servers.
func (s serverSuite) serverScenarios(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := s.command(ctx, "list", "--server", "--spec-version", s.protocol).CombinedOutput()
	require.NoError(t, err, string(out))
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^  - (\S+)`).FindAllSubmatch(out, -1) {
		names = append(names, string(match[1]))
	}
	require.NotEmpty(t, names, string(out))
	return names
}

// judgeServer runs all scenarios against the endpoint, one after the other, and
// returns the verdicts by scenario.
func (s serverSuite) judgeServer(t *testing.T, url string) map[string]verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	results := t.TempDir()
	out, err := s.command(ctx, "server", "--url", url, "--suite", "all", "--spec-version", s.protocol, "--output-dir", results).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !exit.Exited() {
		require.NoError(t, err, string(out)) // an exit status only says that a check was not passed
	}
	verdicts := map[string]verdict{}
	for _, scenario := range s.serverScenarios(t) {
		verdicts[scenario] = readServer(t, results, scenario)
	}
	return verdicts
}

// readServer reads the results of a scenario. What is only informative does not
// count.
func readServer(t *testing.T, results, scenario string) verdict {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "server-"+scenario+"-20*Z", "checks.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, "the results of %s", scenario)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var checks []check
	require.NoError(t, json.Unmarshal(data, &checks))
	var v verdict
	for _, c := range checks {
		if c.Status == "INFO" {
			continue
		}
		v.checks = append(v.checks, c.ID+" "+c.Status)
		if c.missed() {
			v.missed = append(v.missed, c.ID)
			v.log += c.ID + ": " + c.Message + "\n"
		}
	}
	slices.Sort(v.checks)
	slices.Sort(v.missed)
	v.missed = slices.Compact(v.missed)
	return v
}

// comparison is a scenario's verdict on the server alone and through a gateway.
type comparison struct {
	protocol, inner, scenario string
	alone, gateway            verdict
	differs                   []string // the checks, by name
	why                       string
}

// compare compares. The inner protocol is what the gateway speaks to the server.
func compare(protocol, inner, scenario string, alone, gateway verdict) comparison {
	c := comparison{protocol: protocol, inner: inner, scenario: scenario, alone: alone, gateway: gateway}
	for _, outcome := range slices.Concat(alone.checks, gateway.checks) {
		if slices.Contains(alone.checks, outcome) && slices.Contains(gateway.checks, outcome) {
			continue
		}
		name, _, _ := strings.Cut(outcome, " ")
		c.differs = append(c.differs, name)
	}
	slices.Sort(c.differs)
	c.differs = slices.Compact(c.differs)
	return c
}

func (c comparison) key() string { return c.protocol + " " + c.inner + " " + c.scenario }
