//go:build unix && !real

package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func hangUp(t *testing.T) {
	t.Helper()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
}

// heeded undoes for the test what nohup did to the program, if it did.
func heeded(t *testing.T) {
	t.Helper()
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(received) })
}

func TestAHangupEndsWhatHasNotTakenIt(t *testing.T) {
	heeded(t)
	ctx, stop := withHangup(t.Context())
	defer stop()
	hangUp(t)
	<-ctx.Done()
}

func TestAHangupDoesNotEndWhatHasTakenIt(t *testing.T) {
	ctx, stop := withHangup(t.Context())
	defer stop()
	hangups := takeHangup(ctx)
	for range 2 {
		hangUp(t)
		<-hangups
	}
	assert.NoError(t, ctx.Err())
	assert.Nil(t, takeHangup(context.Background()), "nothing ever comes")
}

// A process that serves a file reads it again, and ends as ever on SIGTERM,
// without a child left of either file.
func TestServeReadsItsFileAgainOnSIGHUP(t *testing.T) {
	t.Parallel()
	file := oneChild(t, nil)
	rewrite(t, file, `{"mcpServers"`, `{"gateway": {"watch": false}, "mcpServers"`)
	p, c, _ := launchHTTP(t, file)
	text, err := call(t.Context(), c, "child_run")
	require.NoError(t, err)
	require.Equal(t, "done", text)

	rewrite(t, file, `"child"`, `"second"`)
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		text, err := call(context.Background(), c, "second_run")
		require.NoError(t, err)
		assert.Equal(t, "done", text)
	}, 20*time.Second, 20*time.Millisecond)
	_, err = call(t.Context(), c, "child_run")
	require.Error(t, err, "its server is gone")

	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.ended(t)
	assert.Contains(t, p.log.String(), `"event":"config_reloaded"`)
}

func rewrite(t *testing.T, file, old, replacement string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600))
}
