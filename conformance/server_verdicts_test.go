//go:build real

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

const (
	serverListFile = "server-verdicts.txt"
	serverPreamble = `# What the conformance suite says of the program fixtures, alone and behind vmcp serve, by the protocol
# of the suite and the one that vmcp serve speaks to the fixtures. A line that has a colon is about a
# difference: the checks that differ, and why, in words that whoever runs the update adds. Without a
# colon, the checks that are passed neither way.
# Rewritten, but for the reasons, by: UPDATE=1 go test -tags real -run TestRealServer ./conformance
#
`
)

// text is a line of the list, its columns apart by sep.
func (c comparison) text(sep string) string {
	columns := []string{c.protocol, c.inner, c.scenario, word(c.alone), word(c.gateway)}
	switch {
	case len(c.differs) > 0:
		columns = append(columns, strings.Join(c.differs, " ")+": "+c.why)
	case len(c.gateway.missed) > 0:
		columns = append(columns, strings.Join(c.gateway.missed, " "))
	}
	return strings.Join(columns, sep)
}

// plain are the lines without the blanks that align them.
func plain(comparisons []comparison) []string {
	lines := make([]string, len(comparisons))
	for i, c := range comparisons {
		lines[i] = c.text(" ")
	}
	return lines
}

// reasons are what the list says of differences, by the protocols and the
// scenario.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	why := map[string]string{}
	for _, line := range readLines(t, serverListFile) {
		if checks, reason, ok := strings.Cut(line, ": "); ok {
			words := strings.Fields(checks)
			why[strings.Join(words[:3], " ")] = reason
		}
	}
	return why
}

func writeComparisons(t *testing.T, comparisons []comparison) {
	t.Helper()
	out := bytes.NewBufferString(serverPreamble)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "# caller\tbackend\tscenario\talone\tgateway\tnot passed, or what differs and why")
	for _, c := range comparisons {
		fmt.Fprintln(table, c.text("\t"))
	}
	require.NoError(t, table.Flush())
	require.NoError(t, os.WriteFile(serverListFile, out.Bytes(), 0o644))
}
