package connect_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFailedOpeningLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for stage, script := range failingAt() {
		t.Run("failing at "+stage, func(t *testing.T) {
			t.Parallel()
			if stage == "the first request" {
				script = with(honest(modern), "tools/list", badserver.Answer{Hang: true})
			}
			programs := newLeash(t)
			_, err := connect.To(programs.stdio(t, "server", script), connect.WithTimeouts(connect.Timeouts{Verification: 50 * time.Millisecond})).Open(soon(t))
			require.Error(t, err)
			programs.await(t, "server", ended(1))
		})
	}
}

func TestCancellingTheOpeningEndsTheProcess(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	ctx, cancel := context.WithCancel(soon(t))
	opened := make(chan error, 1)
	go func() {
		_, err := connect.Open(ctx, programs.stdio(t, "server", mute()))
		opened <- err
	}()
	programs.await(t, "server", func(seen []program) bool {
		return len(seen) == 1 && slices.Contains(seen[0].asked, "server/discover")
	})
	cancel()
	require.ErrorIs(t, <-opened, context.Canceled)
	assert.Len(t, programs.await(t, "server", ended(1)), 1)
}

func TestTheExitStatusOfAServerIsNoError(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	c, err := connect.Open(soon(t), programs.stdio(t, "server", with(honest(legacy), "tools/call", badserver.Answer{Exit: true})))
	require.NoError(t, err)
	_, err = c.CallTool(soon(t), callOf("search"))
	require.Error(t, err)
	programs.await(t, "server", ended(1))
	require.NoError(t, c.Close(), "it exited with 4")
}

func TestWhatAServerHasStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	c, err := connect.Open(soon(t), programs.stdio(t, "parent", honest(legacy)))
	require.NoError(t, err)
	programs.await(t, "sleeper", func(seen []program) bool { return len(seen) == 1 })
	require.NoError(t, c.Close(), "though it kept stderr open")
	programs.await(t, "parent", ended(1))
	programs.await(t, "sleeper", ended(1))
}

// It costs the grace that mcp-go gives a process: 2 s to end with its standard
// input, 3 s to heed SIGTERM.
func TestAServerThatIgnoresEverythingIsKilled(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	c, err := connect.Open(soon(t), programs.stdio(t, "stubborn", honest(legacy)))
	require.NoError(t, err)
	assert.Equal(t, []string{"search"}, toolsOf(t, c))
	require.NoError(t, c.Close())
	programs.await(t, "stubborn", ended(1))
}

func TestTheLastWordsOfAServerAreInTheError(t *testing.T) {
	t.Parallel()
	programs, written := newLeash(t), &mcptest.Journal{}
	target := says(programs.stdio(t, "dying", honest(legacy)), "loading", "Error: no API key", "usage: server KEY")
	target.Stderr = written
	_, err := connect.Open(soon(t), target)
	var failed *connect.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "handshake", failed.Stage)
	assert.Contains(t, failed.Stderr, "loading\nError: no API key\nusage: server KEY")
	assert.ErrorContains(t, err, "Error: no API key")
	assert.ErrorContains(t, err, "run its command by hand")
	assert.Equal(t, 2, written.Count("Error: no API key"), "it was started twice")
}

func TestTheCallersWriterGetsAllOfStderr(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 2000 {
		lines = append(lines, "more than anybody keeps")
	}
	written := &mcptest.Journal{}
	target := says(newLeash(t).stdio(t, "server", honest(legacy)), lines...)
	target.Stderr = written
	c, err := connect.Open(soon(t), target)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	assert.Equal(t, 2000, written.Count("more than anybody"))
}

func TestAWriterThatFailsCostsTheServerNothing(t *testing.T) {
	t.Parallel()
	target := says(newLeash(t).stdio(t, "chatty", honest(legacy)), "hello")
	target.Stderr = failing{}
	c, err := connect.Open(soon(t), target)
	require.NoError(t, err)
	assert.Equal(t, []string{"search"}, toolsOf(t, c))
	assert.Equal(t, []string{"search"}, toolsOf(t, c))
	require.NoError(t, c.Close())
}

// failing is a writer whose disk is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
