package vmcp

import (
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// A NotRepeatedError says that a backend lost the session during the call of a
// tool, and that the session, which has a new one by now, has not sent the
// call again: the tool is not marked as one that may be called twice. Test for
// it with [errors.As]; it wraps what the server answered, such as
// [transport.ErrSessionTerminated].
type NotRepeatedError struct {
	Tool    string // its exposed name
	Backend string // the ID
	Err     error
}

// Error says what happened to the call and what can be done.
func (e *NotRepeatedError) Error() string {
	return fmt.Sprintf("backend %q: the call of tool %q met the end of the server's session (%v) and was not sent again, as the tool is not marked as read-only or idempotent; "+
		"call it again if that does no harm", e.Backend, e.Tool, e.Err)
}

// Unwrap returns what the server answered.
func (e *NotRepeatedError) Unwrap() error { return e.Err }

// isHarmless says whether a request may be sent twice: all but the calls of tools
// that do not say so.
func (m *member) isHarmless(request any) bool {
	call, ok := request.(mcp.CallToolRequest)
	if !ok {
		return true
	}
	tools := m.listing().Tools
	i := slices.IndexFunc(tools, func(t mcp.Tool) bool { return t.Name == call.Params.Name })
	return i >= 0 && (is(tools[i].Annotations.ReadOnlyHint) || is(tools[i].Annotations.IdempotentHint))
}

func is(hint *bool) bool { return hint != nil && *hint }
