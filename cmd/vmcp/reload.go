package main

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/vmcp"
)

// reloads waits for what has the configuration read again: SIGHUP, and a change
// of the file.
type reloads struct {
	ctx       context.Context
	cancel    context.CancelFunc
	hangups   <-chan struct{}
	changes   <-chan struct{} // closed when ctx has ended
	unwatched error           // why no change will be told of
	running   sync.WaitGroup
}

// awaitReloads begins to wait. It comes before the file is read, so that no
// change is missed. Without a file there is nothing to wait for, and SIGHUP
// stays the end. The caller calls stop.
func awaitReloads(ctx context.Context, file string) *reloads {
	w := &reloads{}
	w.ctx, w.cancel = context.WithCancel(ctx)
	if file != "" {
		w.hangups = takeHangup(ctx)
		w.changes, w.unwatched = config.Watch(w.ctx, file)
	}
	return w
}

// start lets r reload, in the background, each time it is due; a nil r never.
func (w *reloads) start(r *reloader, apply func(context.Context, []vmcp.Backend) error) {
	if r == nil {
		return
	}
	w.running.Go(func() { r.run(w.ctx, w, apply) })
}

// stop interrupts a reload, and returns when all has ended. It may be called
// again.
func (w *reloads) stop() {
	w.cancel()
	w.running.Wait()
	if w.changes != nil {
		for range w.changes { // until the watch has ended, too
		}
	}
}

// reloader keeps the backends of a configuration file up to date. It is not
// safe for concurrent use.
type reloader struct {
	file    string
	build   func(config.Server) vmcp.Backend
	logger  *slog.Logger
	gateway config.Gateway   // of the start
	running map[string]inUse // by name
}

// inUse is a server as it was last applied, and the backend made of it.
type inUse struct {
	server  config.Server
	backend vmcp.Backend
}

// newReloader is for backends that were built of the servers of c.
func newReloader(file string, c config.Config, build func(config.Server) vmcp.Backend, logger *slog.Logger) (*reloader, []vmcp.Backend) {
	r := &reloader{file: file, build: build, logger: logger, gateway: c.Gateway}
	next := r.next(c.Servers)
	r.running = next.running
	return r, next.backends
}

// run reloads at each trigger, until ctx ends. A reload that has begun gets to
// know that end from ctx.
func (r *reloader) run(ctx context.Context, w *reloads, apply func(context.Context, []vmcp.Backend) error) {
	changes := r.watched(w)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.hangups:
		case _, open := <-changes:
			if !open {
				changes = nil
				continue
			}
		}
		r.reload(ctx, apply)
	}
}

// watched is nil where the file says so or nothing can be watched.
func (r *reloader) watched(w *reloads) <-chan struct{} {
	if !r.gateway.Watch {
		return nil
	}
	if w.unwatched != nil {
		r.logger.Warn("the configuration is not watched", events.KeyEvent, events.ConfigUnwatched, events.KeyError, w.unwatched.Error())
	}
	return w.changes
}

// reload reads the file and applies it. What is invalid, or cannot be applied,
// changes nothing here, so that the next reload tries it again.
func (r *reloader) reload(ctx context.Context, apply func(context.Context, []vmcp.Backend) error) {
	c, err := config.Read(r.file, os.LookupEnv)
	if err != nil {
		r.logger.ErrorContext(ctx, "the configuration is invalid; nothing has changed",
			events.KeyEvent, events.ConfigInvalid, events.KeyFile, r.file, events.KeyProblems, problemsOf(err))
		return
	}
	logNotes(ctx, r.logger, c)
	r.warnOfNextStart(ctx, c)
	next := r.next(c.Servers)
	if err := apply(ctx, next.backends); err != nil && ctx.Err() != nil {
		return // vmcp is ending
	} else if err != nil {
		r.logger.ErrorContext(ctx, "the configuration could not be applied",
			events.KeyEvent, events.ConfigNotApplied, events.KeyFile, r.file, events.KeyError, err.Error())
		return
	}
	removed := r.missingIn(next)
	r.running = next.running
	r.logger.InfoContext(ctx, "the configuration was read again", events.KeyEvent, events.ConfigReloaded, events.KeyFile, r.file,
		events.KeyAdded, next.added, events.KeyChanged, next.changed, events.KeyRemoved, removed)
}

// logNotes is for the start and for each reload.
func logNotes(ctx context.Context, logger *slog.Logger, c config.Config) {
	for _, note := range c.Notes {
		logger.InfoContext(ctx, note, events.KeyEvent, events.ConfigNote)
	}
}

func (r *reloader) warnOfNextStart(ctx context.Context, c config.Config) {
	if !reflect.DeepEqual(c.Gateway, r.gateway) {
		r.logger.WarnContext(ctx, `what changed in "gateway" takes effect when vmcp starts again`, events.KeyEvent, events.ConfigNextStart, events.KeyFile, r.file)
	}
}

// generation is what a configuration makes of the running servers.
type generation struct {
	backends       []vmcp.Backend // in the order of the file
	running        map[string]inUse
	added, changed []string // never nil, for the log
}

// next takes over the backend of each server that is as it was, connector and
// all, and builds the others.
func (r *reloader) next(servers []config.Server) generation {
	next := generation{running: make(map[string]inUse, len(servers)), added: []string{}, changed: []string{}}
	for _, server := range servers {
		now, known := r.running[server.ID]
		switch {
		case !known:
			next.added = append(next.added, server.ID)
			now = inUse{server, r.build(server)}
		case !reflect.DeepEqual(now.server, server):
			next.changed = append(next.changed, server.ID)
			now = inUse{server, r.build(server)}
		}
		next.running[server.ID] = now
		next.backends = append(next.backends, now.backend)
	}
	return next
}

func (r *reloader) missingIn(next generation) []string {
	missing := []string{}
	for name := range r.running {
		if _, ok := next.running[name]; !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}
