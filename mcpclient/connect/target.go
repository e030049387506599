package connect

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
)

// A Target describes how to reach one server. A target that has a String
// method is called so in errors and logs; it must not give away secrets.
type Target interface {
	// Dial makes a new transport that has not been started. Open starts it
	// and, whatever happens, closes it.
	Dial(ctx context.Context) (transport.Interface, error)
}

func nameOf(target Target) string {
	if named, ok := target.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", target)
}
