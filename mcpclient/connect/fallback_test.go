package connect_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireFallbacks checks that the log has n records, each the WARN of a
// fallback, and returns the last one.
func requireFallbacks(t *testing.T, log *mcptest.Journal, n int) map[string]any {
	t.Helper()
	records := log.Records()
	require.Len(t, records, n)
	for _, record := range records {
		assert.Equal(t, slog.LevelWarn.String(), record[slog.LevelKey])
		assert.Equal(t, events.ProtocolFallback, record["event"])
		assert.NotEmpty(t, record["reason"])
	}
	return records[n-1]
}

func TestAServerThatExitsOnAnythingButInitializeIsStartedAgain(t *testing.T) {
	t.Parallel()
	programs, log := newLeash(t), &mcptest.Journal{}
	target := programs.stdio(t, "server", impatient())
	connector := connect.To(target, connect.WithLogger(log.Logger()))
	for range 2 {
		c, err := connector.Open(mcptest.Soon(t))
		require.NoError(t, err)
		assert.Equal(t, []string{"search"}, toolsOf(t, c))
		require.NoError(t, c.Close())
	}

	seen := programs.await(t, "server", ended(3))
	require.Len(t, seen, 3)
	assert.Equal(t, []string{"server/discover"}, seen[0].asked)
	for _, later := range seen[1:] {
		assert.Equal(t, []string{"initialize", "notifications/initialized", "tools/list"}, later.asked)
	}
	warning := requireFallbacks(t, log, 1)
	assert.Equal(t, target.String(), warning["server"])
	assert.Equal(t, legacy, warning["protocolVersion"])
}

func TestFallback(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script badserver.Script
		took   time.Duration
		dials  int64
		first  []string // what the first connection costs
	}{
		"a server that exits on server/discover": {impatient(), 0, 2, []string{
			"server/discover", "initialize", "notifications/initialized"}},
		"a server that leaves server/discover unanswered keeps its connection": {mute(), 5 * time.Second, 1, []string{
			"server/discover", "initialize", "notifications/initialized"}},
		"a server that then answers nothing gets a fresh connection": {muddled(), 15 * time.Second, 2, []string{
			"server/discover", "initialize", "initialize", "notifications/initialized"}},
		"a server that refuses what it agreed to gets a fresh connection": {fickle(), 0, 2, []string{
			"server/discover", "tools/list", "initialize", "notifications/initialized"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, log := badserver.New(test.script), &mcptest.Journal{}
				defer s.Close()
				target := &counted{Target: s}
				connector := connect.To(target, connect.WithLogger(log.Logger()))

				began := time.Now()
				c, err := connector.Open(t.Context())
				require.NoError(t, err)
				assert.Equal(t, test.took, time.Since(began))
				assert.Equal(t, test.first, asked(s))
				assert.Equal(t, []string{"search"}, toolsOf(t, c))
				assert.EqualValues(t, 1, target.open.Load(), "the connection that failed is closed")
				require.NoError(t, c.Close())

				began = time.Now()
				again, err := connector.Open(t.Context())
				require.NoError(t, err)
				assert.Zero(t, time.Since(began))
				assert.Equal(t, []string{"search"}, toolsOf(t, again))
				require.NoError(t, again.Close())
				assert.Equal(t, 1, s.Count("server/discover"), "the connector remembers")

				assert.Equal(t, test.dials+1, target.dials.Load())
				assert.Zero(t, target.open.Load())
				requireFallbacks(t, log, 1)
			})
		})
	}
}

func TestFallbackOverHTTP(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]badserver.Script{
		"a server that leaves server/discover unanswered":   mute(),
		"a server that then answers nothing":                muddled(),
		"a server that refuses what it agreed to":           fickle(),
		"a server that cuts the connection on what is new":  with(honest(legacy), "server/discover", badserver.Answer{Cut: true}),
		"a server that cuts the connection on every method": with(honest(legacy), "initialize", badserver.Answer{Cut: true}.Once(), badserver.Answer{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(script)
			connector := connect.To(connect.HTTP{URL: overHTTP(t, s).URL}, connect.WithTimeouts(connect.Timeouts{
				Probe: time.Second, Handshake: 3 * time.Second}))
			for range 2 {
				c, err := connector.Open(mcptest.Soon(t))
				require.NoError(t, err)
				assert.Equal(t, []string{"search"}, toolsOf(t, c))
				require.NoError(t, c.Close())
			}
			assert.LessOrEqual(t, s.Count("server/discover"), 1, "on a slow machine the probe may be over before it was sent")
		})
	}
}

func TestAServerThatDeclinesTheProbeIsNoFallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, script := range map[string]badserver.Script{
			"at once": honest(legacy),
			"slowly": with(with(honest(legacy), "initialize", badserver.Answer{Delay: badserver.Duration(4 * time.Second)}),
				"server/discover", badserver.Answer{Delay: badserver.Duration(4 * time.Second), Error: &badserver.Error{Code: mcp.METHOD_NOT_FOUND}}),
		} {
			s, log := badserver.New(script), &mcptest.Journal{}
			connector := connect.To(s, connect.WithLogger(log.Logger()))
			for range 2 {
				c, err := connector.Open(t.Context())
				require.NoError(t, err, name)
				require.NoError(t, c.Close())
			}
			assert.Empty(t, log.Records(), name)
			assert.Equal(t, 1, s.Count("server/discover"), "%s: the connector remembers that too", name)
			require.NoError(t, s.Close())
		}
	})
}

func TestTheConnectorForgetsAfterAFailure(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]badserver.Script{
		"a server that exits on server/discover":          impatient(),
		"a server that leaves server/discover unanswered": mute(),
		"a server that refuses what it agreed to":         fickle(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := badserver.New(with(script, "initialize",
					badserver.Answer{}.Once(), badserver.Fail(mcp.INTERNAL_ERROR, "not today").Once(), badserver.Answer{}))
				defer s.Close()
				connector := connect.To(s)
				open := func() error {
					c, err := connector.Open(t.Context())
					if err == nil {
						require.NoError(t, c.Close())
					}
					return err
				}
				require.NoError(t, open())
				require.ErrorIs(t, open(), mcp.ErrInternalError)
				assert.Equal(t, 1, s.Count("server/discover"))
				require.NoError(t, open())
				assert.Equal(t, 2, s.Count("server/discover"))
			})
		})
	}
}

func TestBothAttemptsFailing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := badserver.New(with(fickle(), "initialize", badserver.Fail(mcp.INTERNAL_ERROR, "never")))
		defer s.Close()
		target, log := &counted{Target: s}, &mcptest.Journal{}
		_, err := connect.To(target, connect.WithLogger(log.Logger())).Open(t.Context())

		var failed *connect.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "handshake", failed.Stage)
		require.ErrorIs(t, err, mcp.ErrInternalError)
		require.NotNil(t, failed.First, "what failed first is kept")
		assert.Equal(t, "first request", failed.First.Stage)
		assert.True(t, mcp.IsUnsupportedProtocolVersion(failed.First))
		assert.Nil(t, failed.First.First)
		assert.ErrorContains(t, err, "first request", "the text tells both")
		assert.EqualValues(t, 2, target.dials.Load())
		assert.Zero(t, target.open.Load())
		requireFallbacks(t, log, 1)
	})
}

func TestEachWhoWantsToKnowOfAFallbackIsTold(t *testing.T) {
	t.Parallel()
	var first, second []string
	s := badserver.New(fickle())
	t.Cleanup(func() { _ = s.Close() })
	connector := connect.To(s, connect.OnFallback(func(_ context.Context, version string) { first = append(first, version) }), connect.OnFallback(nil)).
		With(connect.OnFallback(func(_ context.Context, version string) { second = append(second, version) }))
	for range 2 {
		c, err := connector.Open(mcptest.Soon(t))
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	assert.Equal(t, []string{legacy}, first, "the second connection is asked for what works")
	assert.Equal(t, first, second)
}
