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
	listFile = "verdicts.txt"
	preamble = `# What the conformance suite says of mcp-go's client, and of the same client behind
# the chain, with the checks that are not passed. See doc.go for the reasons.
# Rewritten by: UPDATE=1 go test -tags real ./conformance
#
`
)

// line is a line of the list, without the blanks that align it.
func line(s suite, scenario string, plain, chain verdict) string {
	return strings.Join(append([]string{s.protocol, scenario, word(plain), word(chain)}, plain.missed...), " ")
}

func word(v verdict) string {
	if v.passed() {
		return "pass"
	}
	return "fail"
}

// readLines reads a list without its comments and the blanks that align it.
func readLines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var lines []string
	for text := range strings.Lines(string(data)) {
		if !strings.HasPrefix(text, "#") {
			lines = append(lines, strings.Join(strings.Fields(text), " "))
		}
	}
	return lines
}

func writeList(t *testing.T, lines []string) {
	t.Helper()
	out := bytes.NewBufferString(preamble)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "# protocol\tscenario\tplain\tchain\tnot passed")
	for _, line := range lines {
		fmt.Fprintln(table, strings.Replace(line, " ", "\t", 4))
	}
	require.NoError(t, table.Flush())
	require.NoError(t, os.WriteFile(listFile, out.Bytes(), 0o644))
}
