package connect_test

import (
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPinnedProtocolIsTheOnlyOneTried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pin    string
		script badserver.Script
		stage  string
		asked  []string
	}{
		"2026-07-28 and a server that exits on server/discover": {
			modern, impatient(), "handshake", []string{"server/discover"}},
		"2026-07-28 and a server that leaves server/discover unanswered": {
			modern, mute(), "handshake", []string{"server/discover"}},
		"2026-07-28 and a server that refuses what it agreed to": {
			modern, fickle(), "first request", []string{"server/discover", "tools/list"}},
		"2026-07-28 and an older server": {
			modern, honest(legacy), "handshake", []string{"server/discover"}},
		"2025-11-25 and a newer server": {
			legacy, honest(modern), "handshake", []string{"initialize"}},
		"2025-06-18 and a server that exits": {
			mcp.ProtocolVersion20250618, with(honest(legacy), "initialize", badserver.Answer{Exit: true}), "handshake", []string{"initialize"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, log := badserver.New(test.script), &mcptest.Journal{}
				defer s.Close()
				target := &counted{Target: s}
				connector := connect.To(target, connect.WithProtocolVersion(test.pin), connect.WithLogger(log.Logger()))
				_, err := connector.Open(t.Context())

				var failed *connect.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, test.stage, failed.Stage)
				assert.Nil(t, failed.First)
				assert.Equal(t, test.asked, asked(s))
				assert.EqualValues(t, 1, target.dials.Load())
				assert.Zero(t, target.open.Load())
				assert.Empty(t, log.Records())
			})
		})
	}
}

func TestAPinnedProtocolIsUsed(t *testing.T) {
	t.Parallel()
	for _, pin := range mcp.ValidProtocolVersions {
		t.Run(pin, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(honest(pin))
			c, err := connect.To(s, connect.WithProtocolVersion(pin)).Open(soon(t))
			require.NoError(t, err)
			defer c.Close()
			known, _ := c.Server()
			assert.Equal(t, pin, known.ProtocolVersion)
			assert.Equal(t, mcp.IsModernProtocol(pin), s.Count("server/discover") == 1, "asks only 2026-07-28")
			for _, request := range s.Requests()[:1] {
				assert.Contains(t, string(request.Params), pin)
			}
		})
	}
}

func TestAPinOf20260728IsAskedForAndNothingElse(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	_, err := connect.To(s, connect.WithProtocolVersion(modern)).Open(soon(t))
	var unsupported mcp.UnsupportedProtocolVersionError
	require.ErrorAs(t, err, &unsupported)
	assert.Equal(t, modern, unsupported.Version)
	assert.ErrorContains(t, err, "server/discover")
	assert.ErrorContains(t, err, "ask for one that it supports")
	assert.Equal(t, 1, s.Count("server/discover"))
	assert.Zero(t, s.Count("initialize"), "without any fallback")
}

func TestAnInvalidPinNamesTheValidOnesAndStartsNothing(t *testing.T) {
	t.Parallel()
	programs := newLeash(t)
	_, err := connect.To(programs.stdio(t, "server", honest(legacy)), connect.WithProtocolVersion("2025-13-32")).Open(soon(t))
	require.Error(t, err)
	assert.True(t, mcp.IsUnsupportedProtocolVersion(err))
	assert.ErrorContains(t, err, `"2025-13-32"`)
	for _, valid := range mcp.ValidProtocolVersions {
		assert.ErrorContains(t, err, valid)
	}
	started, _ := programs.seen("server")
	assert.Empty(t, started)
}
