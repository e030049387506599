//go:build real

package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRealConformance(t *testing.T) {
	dir := compile(t, "./client")
	var lines []string
	for _, s := range suites {
		scenarios := s.scenarios(t)
		plain := s.judge(t, dir, "./client", scenarios)
		chain := s.judge(t, dir, "./client --chain", scenarios)
		for _, scenario := range scenarios {
			without, with := plain[scenario], chain[scenario]
			lines = append(lines, line(s, scenario, without, with))
			t.Run(s.protocol+"/"+scenario, func(t *testing.T) {
				assert.Equal(t, without.checks, with.checks,
					"the chain makes a difference\n--- without it ---\n%s\n--- with it ---\n%s", without.log, with.log)
			})
		}
	}
	if os.Getenv("UPDATE") == "1" {
		writeList(t, lines)
	}
	assert.Equal(t, strings.Join(readLines(t, listFile), "\n"), strings.Join(lines, "\n"), "the verdicts are not those of %s", listFile)
}
