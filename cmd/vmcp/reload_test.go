package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// applied is a session that only remembers what was applied to it.
type applied struct {
	calls chan []vmcp.Backend
	fails error
}

func (a *applied) apply(_ context.Context, backends []vmcp.Backend) error {
	a.calls <- backends
	return a.fails
}

// reloading is a reloader of a file, with what the file led to at first.
type reloading struct {
	*reloader

	backends []vmcp.Backend
	session  *applied
	journal  *mcptest.Journal
}

func newReloading(t *testing.T, content string) *reloading {
	t.Helper()
	file := write(t, "servers.json", content)
	c, err := config.Read(file, os.LookupEnv)
	require.NoError(t, err)
	r := &reloading{session: &applied{calls: make(chan []vmcp.Backend, 1)}, journal: &mcptest.Journal{}}
	r.reloader, r.backends = newReloader(file, c, func(s config.Server) vmcp.Backend {
		return newBackend(s, forAll{timeout: time.Minute, logger: slog.Default()})
	}, r.journal.Logger())
	return r
}

// again reloads new content and returns what was applied.
func (r *reloading) again(t *testing.T, content string) []vmcp.Backend {
	t.Helper()
	require.NoError(t, os.WriteFile(r.file, []byte(content), 0o600))
	r.reload(t.Context(), r.session.apply)
	select {
	case backends := <-r.session.calls:
		return backends
	default:
		return nil
	}
}

func ids(backends []vmcp.Backend) []string {
	var names []string
	for _, b := range backends {
		names = append(names, b.ID)
	}
	return names
}

func TestAReloadTouchesOnlyWhatChanged(t *testing.T) {
	t.Setenv("VMCP_TEST_VALUE", "one")
	r := newReloading(t, `{"mcpServers": {
		"same": {"command": "x", "args": ["${VMCP_TEST_VALUE}"], "env": {"K": "v"}, "tools": {"rename": {"a": "b"}}},
		"changed": {"command": "x"},
		"tuned": {"url": "http://h", "timeouts": {"call": "1s"}},
		"removed": {"command": "x"}}}`)
	require.Equal(t, []string{"same", "changed", "tuned", "removed"}, ids(r.backends))
	got := r.again(t, `{"mcpServers": { // in another order and notation
		"added": {"command": "x"},
		"tuned": {"url": "http://h", "timeouts": {"call": "2s"}},
		"same": {"tools": {"rename": {"a": "b"}}, "env": {"K": "v"}, "command": "x", "args": ["one"], },
		"changed": {"command": "y"}}}`)
	require.Equal(t, []string{"added", "tuned", "same", "changed"}, ids(got))
	assert.NotSame(t, r.backends[2].Connector, got[1].Connector)
	assert.Equal(t, 2*time.Second, got[1].CallTimeout)
	assert.NotSame(t, r.backends[1].Connector, got[3].Connector)
	// The variable stands there as its value now, which is no secret any more.
	assert.NotSame(t, r.backends[0].Connector, got[2].Connector)
	assert.Equal(t, []mcptest.Record{{"level": "INFO", "msg": "the configuration was read again", "event": "config_reloaded", "file": r.file,
		"added": []any{"added"}, "changed": []any{"tuned", "same", "changed"}, "removed": []any{"removed"}}}, r.journal.Take())

	again := r.again(t, `{"mcpServers": {"same": {"tools": {"rename": {"a": "b"}}, "env": {"K": "v"}, "command": "x", "args": ["one"]},
		"changed": {"command": "y"}, "tuned": {"url": "http://h", "timeouts": {"call": "2s"}}, "added": {"command": "x"}}}`)
	require.Equal(t, []string{"same", "changed", "tuned", "added"}, ids(again))
	for i, former := range []int{2, 3, 1, 0} {
		assert.Same(t, got[former].Connector, again[i].Connector, "%s stays as it is", again[i].ID)
		assert.Equal(t, got[former], again[i])
	}
	assert.Equal(t, []mcptest.Record{{"level": "INFO", "msg": "the configuration was read again", "event": "config_reloaded", "file": r.file,
		"added": []any{}, "changed": []any{}, "removed": []any{}}}, r.journal.Take())
}

func TestAVariableThatChangedIsAChange(t *testing.T) {
	const content = `{"mcpServers": {"a": {"command": "x", "env": {"K": "${VMCP_TEST_VALUE}"}}}}`
	t.Setenv("VMCP_TEST_VALUE", "planted-one")
	r := newReloading(t, content)
	t.Setenv("VMCP_TEST_VALUE", "planted-two")
	got := r.again(t, content)
	assert.NotSame(t, r.backends[0].Connector, got[0].Connector)
	assert.NotContains(t, r.journal.String(), "planted")
	assert.Same(t, got[0].Connector, r.again(t, content)[0].Connector)
}

func TestAnInvalidFileChangesNothing(t *testing.T) {
	const content = `{"mcpServers": {"a": {"command": "x"}}}`
	r := newReloading(t, content)
	assert.Nil(t, r.again(t, "{\"mcpServers\": {\n\"a\": {\"command\": 1},\n\"b\": {\"url\": \"planted\"}}}"))
	assert.Equal(t, []mcptest.Record{{"level": "ERROR", "msg": "the configuration is invalid; nothing has changed", "event": "config_invalid", "file": r.file,
		"problems": []any{
			r.file + `:2: mcpServers.a.command: must be a string, not a number. Put it in quotes.`,
			r.file + `:3: mcpServers.b.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`}}}, r.journal.Take())
	require.NoError(t, os.Remove(r.file))
	r.reload(t.Context(), r.session.apply)
	assert.Equal(t, "config_invalid", r.journal.Take()[0]["event"])
	assert.Empty(t, r.session.calls)
	assert.Same(t, r.backends[0].Connector, r.again(t, content)[0].Connector, "as if nothing had been")
}

func TestWhatCouldNotBeAppliedIsTriedAgain(t *testing.T) {
	r := newReloading(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	r.session.fails = errors.New("out of descriptors")
	const content = `{"mcpServers": {"a": {"command": "y"}}}`
	assert.Len(t, r.again(t, content), 1)
	assert.Equal(t, []mcptest.Record{{"level": "ERROR", "msg": "the configuration could not be applied", "event": "config_not_applied", "file": r.file,
		"error": "out of descriptors"}}, r.journal.Take())
	r.session.fails = nil
	assert.Len(t, r.again(t, content), 1)
	assert.Equal(t, []any{"a"}, r.journal.Take()[0]["changed"])
}

func TestAReloadThatTheEndInterruptsIsNoError(t *testing.T) {
	r := newReloading(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	ctx, end := context.WithCancel(t.Context())
	r.reload(ctx, func(ctx context.Context, _ []vmcp.Backend) error {
		end()
		return ctx.Err()
	})
	assert.Empty(t, r.journal.Take())
}

func TestAReloadSaysWhatTakesEffectLater(t *testing.T) {
	r := newReloading(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	r.again(t, `{"mcpServers": {"a": {"command": "x", "trust": true}}, "gateway": {"limits": {"calls": 7}}}`)
	records := r.journal.Take()
	require.Len(t, records, 3)
	assert.Equal(t, r.file+":1: mcpServers.a.trust has no effect in vmcp", records[0]["msg"])
	assert.Equal(t, "config_next_start", records[1]["event"])
	assert.Equal(t, "WARN", records[1]["level"])
	assert.Equal(t, "config_reloaded", records[2]["event"])
}

func TestAChangedFileAndAHangupReload(t *testing.T) {
	const one, two = `{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"b": {"command": "x"}}}`
	r := newReloading(t, one)
	h := &hangup{signals: make(chan struct{}, 1), end: func() { t.Error("the hangup has ended the command") }}
	w := awaitReloads(context.WithValue(t.Context(), hangupKey{}, h), r.file)
	defer w.stop()
	w.start(r.reloader, r.session.apply)
	require.NoError(t, os.WriteFile(r.file, []byte(two), 0o600))
	assert.Equal(t, []string{"b"}, ids(<-r.session.calls))
	h.deliver()
	assert.Equal(t, []string{"b"}, ids(<-r.session.calls))
}

func TestAFileThatIsNotToBeWatchedIsReadOnAHangup(t *testing.T) {
	r := newReloading(t, `{"mcpServers": {"a": {"command": "x"}}, "gateway": {"watch": false}}`)
	h := &hangup{signals: make(chan struct{}, 1)}
	w := awaitReloads(context.WithValue(t.Context(), hangupKey{}, h), r.file)
	defer w.stop()
	w.start(r.reloader, r.session.apply)
	h.deliver()
	assert.Equal(t, []string{"a"}, ids(<-r.session.calls))
	require.NoError(t, os.WriteFile(r.file, []byte(`{"mcpServers": {"b": {"command": "x"}}}`), 0o600))
	select {
	case <-r.session.calls:
		assert.Fail(t, "the file was read although nobody asked for it")
	case <-time.After(time.Second):
	}
}

func TestAFileThatCannotBeWatchedIsNamed(t *testing.T) {
	r := newReloading(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	r.file = filepath.Join(t.TempDir(), "no", "servers.json")
	w := awaitReloads(t.Context(), r.file)
	w.start(r.reloader, r.session.apply)
	w.stop()
	records := r.journal.Take()
	require.Len(t, records, 1)
	assert.Equal(t, "config_unwatched", records[0]["event"])
	assert.Contains(t, records[0]["error"], "send SIGHUP")
}

func TestWithoutAFileNothingIsReloaded(t *testing.T) {
	h := &hangup{signals: make(chan struct{}, 1)}
	w := awaitReloads(context.WithValue(t.Context(), hangupKey{}, h), "")
	w.start(nil, nil)
	w.stop()
	assert.False(t, h.taken.Load(), "a hangup is the end")
}
