package vmcp

import (
	"fmt"
	"strings"
)

// An UnknownError says that no backend of the session has what was asked for.
// Test for it with [errors.As].
type UnknownError struct {
	Kind string // "tool", "prompt", "resource" or "backend"
	Name string
	// Failed are the backends that failed; one of them may have it.
	Failed []BackendReport
}

// Error names what is unknown and the failed backends that may have it, with
// their reasons.
func (e *UnknownError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "unknown %s %q", e.Kind, e.Name)
	for _, backend := range e.Failed {
		fmt.Fprintf(&text, "; backend %q, which may have it, failed: %s", backend.ID, backend.Reason)
	}
	return text.String()
}

// unknown blames only the backends whose names the name could be.
func (s *Session) unknown(kind, name string) error {
	failure := &UnknownError{Kind: kind, Name: name}
	for _, backend := range s.Report().Backends {
		if backend.State == Failed && (kind == "resource" || strings.HasPrefix(name, backend.ID+"_")) {
			failure.Failed = append(failure.Failed, backend)
		}
	}
	return failure
}
