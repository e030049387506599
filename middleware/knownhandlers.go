package middleware

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// mostKnownHandlers bounds what is kept for a client whose callers make up
// names of tools.
const mostKnownHandlers = 256

// knownHandlers keeps a handler for each kind of call that has the fields of
// that kind already: slog's own handlers then format them once, and not for
// each record.
type knownHandlers struct {
	base slog.Handler
	mask func(string) string

	latest atomic.Pointer[knownHandler] // calls of a kind often come one after the other
	mu     sync.RWMutex
	byKind map[callKind]*knownHandler
}

type knownHandler struct {
	callKind
	slog.Handler
}

func (k *knownHandlers) handler(kind callKind) slog.Handler {
	if latest := k.latest.Load(); latest != nil && latest.callKind == kind {
		return latest.Handler
	}
	k.mu.RLock()
	known, ok := k.byKind[kind]
	k.mu.RUnlock()
	if !ok {
		known = &knownHandler{kind, k.base.WithAttrs(masked(kind.fields(), k.mask))}
		k.keep(known)
	}
	k.latest.Store(known)
	return known.Handler
}

func (k *knownHandlers) keep(made *knownHandler) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKind == nil {
		k.byKind = map[callKind]*knownHandler{}
	}
	if len(k.byKind) < mostKnownHandlers {
		k.byKind[made.callKind] = made
	}
}
