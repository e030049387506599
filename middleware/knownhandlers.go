package middleware

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// callKind is what many calls have in common.
type callKind struct{ op, method, tool, prompt, outcome string }

func kindOfCall(outcome Outcome) callKind {
	tool, prompt := subject(outcome.Call)
	return callKind{outcome.Call.Op, string(outcome.method()), tool, prompt, outcome.Kind}
}

// fields are the default fields that the calls have in common.
func (k callKind) fields() []slog.Attr {
	fields := append(make([]slog.Attr, 0, 8), slog.String(KeyOperation, k.op), slog.String(KeyMethod, k.method))
	if k.tool != "" {
		fields = append(fields, slog.String(KeyTool, k.tool))
	} else if k.prompt != "" {
		fields = append(fields, slog.String(KeyPrompt, k.prompt))
	}
	return append(fields, slog.String(KeyOutcome, k.outcome))
}

// mostKnownHandlers bounds what is kept for a client whose callers make up
// names of tools.
const mostKnownHandlers = 256

// knownHandlers keeps a handler for each kind of call that has the fields of
// that kind already: slog's own handlers then format them once, and not for
// each record.
type knownHandlers struct {
	latest atomic.Pointer[knownHandler] // calls of a kind often come one after the other
	mu     sync.RWMutex
	byKind map[callKind]*knownHandler
}

type knownHandler struct {
	callKind
	slog.Handler
}

func (k *knownHandlers) handler(l *logging, kind callKind) slog.Handler {
	if latest := k.latest.Load(); latest != nil && latest.callKind == kind {
		return latest.Handler
	}
	k.mu.RLock()
	known, ok := k.byKind[kind]
	k.mu.RUnlock()
	if !ok {
		known = &knownHandler{kind, l.handler.WithAttrs(l.masked(kind.fields()))}
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
