package status

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mcp-candor/candor/vmcp"
)

// A Board holds the latest that is known of each backend, whichever session
// told it. It is safe for concurrent use. Who makes one closes it.
type Board struct {
	version string
	started time.Time
	open    context.Context // until Close
	close   context.CancelFunc

	mu       sync.Mutex
	order    []string
	entries  map[string]entry
	fixed    bool // Keep has said which backends there are
	sessions int
	changed  chan struct{} // closed at the next change
}

// entry is what is known of a backend, or awaited.
type entry struct {
	vmcp.BackendReport

	known bool
}

// NewBoard returns an empty board of a program that starts now, in the version.
func NewBoard(version string) *Board {
	open, cancel := context.WithCancel(context.Background())
	return &Board{
		version: version,
		started: time.Now(),
		open:    open,
		close:   cancel,
		entries: map[string]entry{},
		changed: make(chan struct{}),
	}
}

// Keep says which backends are configured, in which order: others are
// forgotten, and what old sessions still report of them is not heard. A backend
// that nobody has reported yet is shown as [vmcp.Connecting] since now.
func (b *Board) Keep(ids []string) {
	b.change(func() bool {
		entries := map[string]entry{}
		for _, id := range ids {
			if known, ok := b.entries[id]; ok {
				entries[id] = known
				continue
			}
			entries[id] = entry{BackendReport: vmcp.BackendReport{ID: id, State: vmcp.Connecting, Since: utc(time.Now())}}
		}
		differs := !slices.Equal(b.order, ids)
		b.order, b.entries, b.fixed = slices.Clone(ids), entries, true
		return differs
	})
}

// Set takes what a session reports of all its backends. Some of that may be old
// by now: of a backend of which something is known that began later (Since), the
// later stays.
func (b *Board) Set(report vmcp.Report) {
	b.change(func() bool {
		differs := false
		for _, backend := range report.Backends {
			if known := b.entries[backend.ID]; !known.known || !backend.Since.Before(known.Since) {
				differs = b.put(backend) || differs
			}
		}
		return differs
	})
}

// Update takes what has just become known of a backend; it is what counts from
// now on.
func (b *Board) Update(backend vmcp.BackendReport) {
	b.change(func() bool { return b.put(backend) })
}

// SetSessions says how many sessions there are.
func (b *Board) SetSessions(n int) {
	b.change(func() bool {
		differs := b.sessions != n
		b.sessions = n
		return differs
	})
}

// Current returns what is known, and a channel that is closed when that is no
// longer all.
func (b *Board) Current() (Document, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	backends := make([]vmcp.BackendReport, len(b.order))
	for i, id := range b.order {
		backends[i] = b.entries[id].BackendReport
	}
	return Document{
		Version:   b.version,
		StartedAt: utc(b.started),
		State:     overall(backends),
		Sessions:  b.sessions,
		Backends:  backends,
	}, b.changed
}

// Close ends the streams of events, which would hold up the shutdown of an HTTP
// server: call it before that. What is known can still be read.
func (b *Board) Close() error {
	b.close()
	return nil
}

// change does something and, if it says that this made a difference, tells those
// who watch.
func (b *Board) change(something func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if something() {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// put says whether it made a difference.
func (b *Board) put(backend vmcp.BackendReport) bool {
	old, ok := b.entries[backend.ID]
	if !ok && b.fixed {
		return false
	}
	if !ok {
		b.order = append(b.order, backend.ID)
	}
	if ok && old.State == backend.State && old.Reason == backend.Reason && old.Since.Before(backend.Since) {
		backend.Since = old.Since // another session only learnt of it later
	}
	backend.Err = nil // not part of what is told
	for _, at := range []*time.Time{&backend.Since, &backend.StaleSince, &backend.NextTry} {
		*at = utc(*at)
	}
	b.entries[backend.ID] = entry{backend, true}
	return !reflect.DeepEqual(old, b.entries[backend.ID])
}

// utc is a time as it is told: in UTC, without the clock of this process.
func utc(t time.Time) time.Time { return t.UTC().Round(0) }
