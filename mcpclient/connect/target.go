package connect

import (
	"context"
	"fmt"
	"reflect"

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

// A TargetError says that a target describes no server: it is nil, or lacks what
// its kind needs. It is a mistake of a program or of its configuration, never the
// server's. Test for it with [errors.As].
type TargetError struct {
	Problem string // such as "the URL is empty"
	Instead string // what to write, as a clause
}

// Error is the problem.
func (e *TargetError) Error() string { return e.Problem }

// usable returns the target, or where there is none one that says so.
func usable(target Target) Target {
	switch v := reflect.ValueOf(target); v.Kind() {
	case reflect.Invalid:
		return noTarget{nil, "the target is nil"}
	case reflect.Pointer, reflect.Func:
		if v.IsNil() {
			return noTarget{target, fmt.Sprintf("the target is a nil %T", target)}
		}
	}
	return target
}

// noTarget stands for a target that is nil.
type noTarget struct {
	given   Target
	problem string
}

// Dial says so.
func (n noTarget) Dial(context.Context) (transport.Interface, error) {
	return nil, &TargetError{n.problem, `give one, such as connect.HTTP{URL: "https://host/mcp"}`}
}

func (noTarget) String() string { return "no target" }
