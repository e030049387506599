package connect_test

import (
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What starts slowly is not silent: the clock of the probe begins with the first
// sign of life.
func TestAServerThatReadsLateIsNotTakenForAnOlderOne(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]connect.Option{
		"negotiated": nil,
		"pinned":     {connect.WithProtocolVersion(modern)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, log := newLeash(t), &mcptest.Journal{}
			script := honest(modern)
			script.Answers["initialize"] = []badserver.Answer{badserver.Fail(mcp.METHOD_NOT_FOUND, "there is no initialize")}
			options = append(options, connect.WithLogger(log.Logger()), connect.WithTimeouts(connect.Timeouts{Probe: slowness / 8, Handshake: slowness / 8, Verification: 10 * time.Second}))
			c, err := connect.To(programs.stdio(t, "slow", script), options...).Open(mcptest.Soon(t))
			require.NoError(t, err)
			known, _ := c.Server()
			assert.Equal(t, modern, known.ProtocolVersion)
			require.NoError(t, c.Close())
			assert.Empty(t, log.Records(), "no fallback")
		})
	}
}

// A server that has read the probe and says nothing is one of those that leave it
// unanswered; it is asked in the older way when the time for the probe is over.
func TestAServerThatReadAndIsSilentIsAskedInTheOlderWay(t *testing.T) {
	t.Parallel()
	programs, log := newLeash(t), &mcptest.Journal{}
	script := honest(legacy)
	script.Answers["server/discover"] = []badserver.Answer{{Hang: true}}
	c, err := connect.To(programs.stdio(t, "server", script), connect.WithLogger(log.Logger()), connect.WithTimeouts(connect.Timeouts{Probe: 50 * time.Millisecond})).Open(mcptest.Soon(t))
	require.NoError(t, err)
	known, _ := c.Server()
	assert.Equal(t, legacy, known.ProtocolVersion)
	require.NoError(t, c.Close())
	assert.Equal(t, "protocol_fallback", log.Only(t)["event"])
}

func TestWhatAProcessSaysAfterItWasClosedIsNoReason(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	script := honest(legacy)
	refuses := []badserver.Answer{badserver.Fail(mcp.INTERNAL_ERROR, "not today")}
	script.Answers["initialize"], script.Answers["server/discover"] = refuses, refuses
	_, err := connect.To(programs.stdio(t, "dumps", script)).Open(mcptest.Soon(t))
	require.ErrorContains(t, err, "not today")
	assert.NotContains(t, err.Error(), "goroutine 1")
	assert.Less(t, len(err.Error()), 4<<10)
}
