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

// unknown says that nobody has what was asked for, or that its backend, by what
// it once listed or by the name, is not there.
func (s *Session) unknown(kind, name string) error {
	if owner, ok := s.routes.Load().former[named{kind, name}]; ok && !owner.serves() {
		return about(s.unavailable(owner), kind, name)
	}
	missing := s.those(func(m *member) bool { return !m.serves() })
	if kind == "resource" || s.builder.Names != Prefixed {
		failure := &UnknownError{Kind: kind, Name: name}
		for _, m := range missing {
			failure.Failed = append(failure.Failed, s.reportOf(m))
		}
		return failure
	}
	if owner := prefixing(missing, name); owner != nil {
		return about(s.unavailable(owner), kind, name)
	}
	return &UnknownError{Kind: kind, Name: name}
}

// prefixing returns the first member with the longest prefix that a name begins
// with, or nil.
func prefixing(members []*member, name string) *member {
	var longest *member
	for _, m := range members {
		if strings.HasPrefix(name, m.prefix()+"_") && (longest == nil || len(m.prefix()) > len(longest.prefix())) {
			longest = m
		}
	}
	return longest
}
