package middleware

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// A PartialListError is the failure of a list after some pages had been
// received. Test for it with [errors.As]; the reason is what it wraps: the
// error of the page that failed, [client.ErrRepeatedListCursor],
// [ErrTooManyPages], [ErrTooManyItems] or [context.DeadlineExceeded].
type PartialListError struct {
	Method mcp.MCPMethod
	// Received is the list up to the failure, such as *mcp.ListToolsResult.
	// Its NextCursor is where the walk ended.
	Received any
	// Pages and Items count what was received.
	Pages, Items int
	Err          error
}

// Error says how much was received and what ended the walk.
func (e *PartialListError) Error() string {
	return fmt.Sprintf("%s failed after %d pages with %d entries: %v", e.Method, e.Pages, e.Items, e.Err)
}

// Unwrap returns the reason.
func (e *PartialListError) Unwrap() error { return e.Err }
