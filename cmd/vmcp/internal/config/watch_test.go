//go:build unix

package config

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func put(t *testing.T, file, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
}

func watching(t *testing.T, file string) <-chan struct{} {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	changes, err := Watch(ctx, file)
	require.NoError(t, err)
	t.Cleanup(func() {
		stop()
		for range changes { // until it is closed
		}
	})
	return changes
}

func told(t *testing.T, changes <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-changes:
		require.True(t, open, "the watch has ended")
	case <-time.After(20 * time.Second):
		require.Fail(t, "nobody was told of the change")
	}
}

func TestWatchTellsOfEveryKindOfChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "servers.json")
	put(t, file, "one")
	changes := watching(t, file)

	put(t, file, "two")
	told(t, changes)

	put(t, filepath.Join(dir, "servers.json~"), "three")
	require.NoError(t, os.Rename(filepath.Join(dir, "servers.json~"), file))
	told(t, changes)

	put(t, file, "after it was replaced")
	told(t, changes)

	require.NoError(t, os.Remove(file))
	told(t, changes)

	put(t, file, "new")
	told(t, changes)
}

func TestWatchFollowsSymbolicLinks(t *testing.T) {
	t.Parallel()
	here, there, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	link, target := filepath.Join(here, "servers.json"), filepath.Join(there, "target.json")
	put(t, target, "one")
	require.NoError(t, os.Symlink(target, link))
	changes := watching(t, link)

	put(t, target, "two")
	told(t, changes)

	other := filepath.Join(elsewhere, "other.json")
	put(t, other, "three")
	require.NoError(t, os.Symlink(other, link+"~"))
	require.NoError(t, os.Rename(link+"~", link))
	told(t, changes)

	put(t, other, "four")
	told(t, changes)
}

// The steps of one change, and changes beside the file, are followed by a change of the file to see
// that they were told of once and never.
func TestWatchTellsOnceOfWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "servers.json")
	put(t, file, "one")
	changes := watching(t, file)
	for _, content := range []string{"", "t", "tw", "two"} {
		put(t, file, content)
	}
	told(t, changes)
	put(t, filepath.Join(dir, "other.json"), "beside it")
	put(t, file, "two") // written anew with what is in it
	select {
	case <-changes:
		assert.Fail(t, "told of a change that is none")
	case <-time.After(3 * settle):
	}
	put(t, file, "three")
	told(t, changes)
}

func TestWatchDoesNotWaitForABusyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "servers.json")
	put(t, file, "one")
	changes := watching(t, file)
	put(t, file, "two")
	busy := time.NewTicker(settle / 10)
	defer busy.Stop()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case <-changes:
			return
		case <-busy.C:
			put(t, filepath.Join(dir, "log"), time.Now().String())
		case <-deadline:
			require.Fail(t, "nobody was told of the change")
		}
	}
}

func TestWatchSaysWhatCannotBeWatched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := Watch(t.Context(), pipe)
	assert.EqualError(t, err, pipe+" cannot be watched: it is no regular file; send SIGHUP when it has changed")

	_, err = Watch(t.Context(), filepath.Join(dir, "no", "servers.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
