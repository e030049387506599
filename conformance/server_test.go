//go:build real

package conformance

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The same fixtures, asked directly and through a gateway that speaks the
// caller's protocol to them, or the other one.
func TestRealServerConformance(t *testing.T) {
	dir := compile(t, "./fixtures", "../cmd/vmcp")
	why := reasons(t)
	var lines []comparison
	for _, s := range serverSuites {
		server := fixturesURL(t, dir)
		alone := s.judgeServer(t, server)
		for _, inner := range serverSuites {
			gateway := s.judgeServer(t, gatewayURL(t, dir, server, inner.protocol))
			for _, scenario := range s.serverScenarios(t) {
				c := compare(s.protocol, inner.protocol, scenario, alone[scenario], gateway[scenario])
				c.why = why[c.key()]
				lines = append(lines, c)
				t.Run(c.key(), func(t *testing.T) {
					assert.Falsef(t, len(c.differs) > 0 && c.why == "", "an unexplained difference, in %v\n--- alone ---\n%s\n--- through the gateway ---\n%s",
						c.differs, alone[scenario].log, gateway[scenario].log)
				})
			}
		}
	}
	if os.Getenv("UPDATE") == "1" {
		writeComparisons(t, lines)
	}
	assert.Equal(t, readLines(t, serverListFile), plain(lines), "the verdicts are not those of %s", serverListFile)
}
