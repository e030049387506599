package vmcp

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// An UnavailableError says that what was asked for belongs to a backend that
// is not there now: it failed, has not answered yet or was lost. Nothing was sent.
// Test for it with [errors.As]; it wraps the reason, with its type, where there is
// one.
type UnavailableError struct {
	Kind string // "tool", "prompt", "resource" or "backend"
	Name string
	// Backend says how the backend stands: why it is not there, since when,
	// and what can be done.
	Backend BackendReport
}

// Error names the backend, the cause, since when, and the remedy.
func (e *UnavailableError) Error() string {
	var text strings.Builder
	if e.Kind != "backend" {
		fmt.Fprintf(&text, "%s %q is not available: ", e.Kind, e.Name)
	}
	fmt.Fprintf(&text, "backend %q has been %s since %s", e.Backend.ID, e.Backend.State, e.Backend.Since.UTC().Format(time.RFC3339))
	for _, more := range []string{e.Backend.Reason, e.Backend.Remedy} {
		if more != "" {
			fmt.Fprintf(&text, "; %s", more)
		}
	}
	return text.String()
}

// Unwrap returns why the backend failed.
func (e *UnavailableError) Unwrap() error { return e.Backend.Err }

// NotSent says that nothing was sent: package failure asks.
func (*UnavailableError) NotSent() bool { return true }

// named says what a call to a backend that is not there was for.
func named(err error, kind, name string) error {
	if unavailable, ok := errors.AsType[*UnavailableError](err); ok {
		unavailable.Kind, unavailable.Name = kind, name
	}
	if interrupted, ok := errors.AsType[*NotRepeatedError](err); ok {
		interrupted.Tool = name
	}
	return err
}

// ErrClosed says that a call came after [Session.Close], or was ended by it.
var ErrClosed = errors.New("vmcp: the session is closed")
