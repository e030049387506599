package main

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everySetting is a server with a value for each.
func everySetting() config.Server {
	return config.Server{
		Backend: vmcp.Backend{
			ID: "a", Required: true, Prefix: "p", ForwardHeaders: []string{"X-A"},
			Tools:     vmcp.ToolSelection{Include: []string{"i*"}, Exclude: []string{"e*"}, Rename: map[string]string{"r": "s"}},
			Tolerance: vmcp.Tolerance{StrictResources: true, StrictPrompts: true, StrictUtilities: true, DegradeFailures: true},
			Retry:     vmcp.Retry{Initial: 4 * time.Second, Max: 5 * time.Second},
			Breaker:   vmcp.Breaker{Failures: 6},
		},
		Target:          connect.HTTP{URL: "http://h"},
		Timeouts:        config.Timeouts{Connect: time.Second, Discovery: 2 * time.Second, Call: 3 * time.Second},
		ProtocolVersion: "2025-11-25",
	}
}

func TestABackendHasEverySettingOfItsServer(t *testing.T) {
	got := newBackend(everySetting(), forAll{timeout: time.Minute, logger: slog.Default()})
	require.NotNil(t, got.Connector)
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		assert.False(t, v.Field(i).IsZero(), "no setting becomes %s", v.Type().Field(i).Name)
	}
	assert.Equal(t, connect.HTTP{URL: "http://h"}, got.Connector.Target())
	want := everySetting().Backend
	want.Connector, want.Timeout, want.CallTimeout = got.Connector, 3*time.Second, 3*time.Second
	assert.Equal(t, want, got)
}

func TestABackendWithoutSettingsLeavesAllToTheBuilder(t *testing.T) {
	got := newBackend(config.Server{Backend: vmcp.Backend{ID: "a"}, Target: connect.Stdio{Command: "x"}}, forAll{timeout: time.Minute, logger: slog.Default()})
	require.NotNil(t, got.Connector)
	got.Connector = nil
	assert.Equal(t, vmcp.Backend{ID: "a"}, got)
}

func TestTimeoutsOfAServer(t *testing.T) {
	const all = 30 * time.Second
	for name, test := range map[string]struct {
		server  config.Server
		backend time.Duration
		connect connect.Timeouts
	}{
		"none": {config.Server{}, 0,
			connect.Timeouts{Probe: 5 * time.Second, Handshake: 15 * time.Second, Verification: all}},
		"connect": {config.Server{Timeouts: config.Timeouts{Connect: time.Minute}}, time.Minute + 55*time.Second + all,
			connect.Timeouts{Probe: 5 * time.Second, Handshake: 55 * time.Second, Verification: all}},
		"a short connect": {config.Server{Timeouts: config.Timeouts{Connect: 2 * time.Second}}, 3*time.Second + all,
			connect.Timeouts{Probe: time.Second, Handshake: time.Second, Verification: all}},
		"connect, without a probe and another try": {config.Server{Timeouts: config.Timeouts{Connect: 2 * time.Second}, ProtocolVersion: "2025-11-25"}, 2*time.Second + all,
			connect.Timeouts{Probe: 2 * time.Second, Handshake: 2 * time.Second, Verification: all}},
		"discovery": {config.Server{Timeouts: config.Timeouts{Discovery: time.Second}}, all + time.Second,
			connect.Timeouts{Probe: 5 * time.Second, Handshake: 15 * time.Second, Verification: time.Second}},
		"call": {config.Server{Timeouts: config.Timeouts{Call: time.Second}}, 0,
			connect.Timeouts{Probe: 5 * time.Second, Handshake: 15 * time.Second, Verification: all}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.backend, backendTimeout(test.server, all))
			assert.Equal(t, test.connect, timeouts(test.server, all))
		})
	}
}
