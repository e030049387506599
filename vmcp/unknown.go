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
	// Failed are the backends that failed or have not answered yet: one of
	// them may have it. With [Prefixed] names there are some of a resource
	// only; that of a tool or a prompt tells whose it would be, see
	// [UnavailableError].
	Failed []BackendReport
}

// Error names what is unknown and the backends that may have it, with their
// reasons.
func (e *UnknownError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "unknown %s %q", e.Kind, e.Name)
	for _, backend := range e.Failed {
		fmt.Fprintf(&text, "; backend %q, which may have it, is %s: %s", backend.ID, backend.State, backend.Reason)
	}
	return text.String()
}
