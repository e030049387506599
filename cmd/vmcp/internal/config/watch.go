package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long nothing may happen before a change counts as complete: editors and tools
	// write a file in several steps.
	settle = 200 * time.Millisecond
	// longestSettle is how long it is waited for that: in a busy directory something always happens.
	longestSettle = 2 * time.Second
)

// Watch returns a channel that gets a value each time the content of file has changed, or the file
// has gone or come, since the call or since the value before. The steps of one change count as one. A
// file that is replaced by another of its name, or that is behind a symbolic link, is watched like any
// other. The channel is closed once ctx has ended.
//
// Watch fails where nothing can be watched: there is no such directory, the file is a pipe or another
// file that is no regular one, or the system watches enough files already.
func Watch(ctx context.Context, file string) (<-chan struct{}, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, unwatchable(file, errors.New("it is no regular file"))
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, unwatchable(file, err)
	}
	w := &watch{file: file, notify: notify, seen: stateOf(file)}
	if err := w.follow(); err != nil {
		return nil, errors.Join(unwatchable(file, err), notify.Close())
	}
	changes := make(chan struct{}, 1)
	go w.run(ctx, changes)
	return changes, nil
}

func unwatchable(file string, err error) error {
	return fmt.Errorf("%s cannot be watched: %w; send SIGHUP when it has changed", printableFile(file), err)
}

// watch is of directories, since a file that is replaced is another file.
type watch struct {
	file   string
	notify *fsnotify.Watcher
	seen   string // the state of the file that was told of last
}

// follow watches the directory of the file, and the one that a symbolic link leads to. That may have
// become another; the former stays watched and costs next to nothing.
func (w *watch) follow() error {
	if err := w.notify.Add(filepath.Dir(w.file)); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(w.file); err == nil {
		return w.notify.Add(filepath.Dir(target))
	}
	return nil
}

func (w *watch) run(ctx context.Context, changes chan<- struct{}) {
	defer close(changes)
	defer func() { _ = w.notify.Close() }()
	var quiet, late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.notify.Events:
		case <-w.notify.Errors: //nolint:errcheck // something was lost: look at the file itself
		case <-quiet:
			w.look(changes)
			quiet, late = nil, nil
			continue
		case <-late:
			w.look(changes)
			quiet, late = nil, nil
			continue
		}
		quiet = time.After(settle)
		if late == nil {
			late = time.After(longestSettle)
		}
	}
}

// look tells of a change that nobody was told of. A value that waits already is enough.
func (w *watch) look(changes chan<- struct{}) {
	_ = w.follow() // without the link's new directory, changes of the link itself are still seen
	state := stateOf(w.file)
	if state == w.seen {
		return
	}
	w.seen = state
	select {
	case changes <- struct{}{}:
	default:
	}
}

// stateOf is the content of a file, or why there is none.
func stateOf(file string) string {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return "no regular file" // which might never end
	}
	data, problem := readFile(file)
	if problem != nil {
		return problem.Problem
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}
