package gateway

import "context"

// outgoing is the context of a call to a backend: it ends with the caller's,
// and has none of the values that mcp-go's server put into that. A backend in
// this process would take them, the caller's session and HTTP headers, for
// those of its own request.
type outgoing struct{ context.Context }

// Value knows nothing.
func (outgoing) Value(any) any { return nil }
