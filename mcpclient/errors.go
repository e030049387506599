package mcpclient

import (
	"errors"
	"fmt"
	"reflect"
)

// ErrMalformedList says that a server answered a list with a result that has
// no list in it: {}, null or an error object inside the result.
var ErrMalformedList = errors.New("the result has no list")

// A ContractError says that a middleware, or the inner client, broke the
// contract of [Handler]: it passed on a request or returned a result that does
// not belong to the method. It is a defect of a program, never of a server.
// Test for it with [errors.As].
type ContractError struct {
	Op   string // the Go method, such as "CallTool"
	Part string // what was wrong: "op", "request", "result" or "handler"
	Want string // what the method takes or returns, such as "*mcp.CallToolResult"
	Got  string // what was there instead
}

// Error names the method, what it wants and what it got.
func (e *ContractError) Error() string {
	return fmt.Sprintf("mcpclient: %s: a middleware or the inner client gave %s as its %s, want %s", e.Op, e.Got, e.Part, e.Want)
}

// checked returns value as a non-nil *T, or says what it is instead.
func checked[T any](op, part string, value any) (*T, error) {
	typed, ok := value.(*T)
	if ok && typed != nil {
		return typed, nil
	}
	return nil, &ContractError{Op: op, Part: part, Want: reflect.TypeFor[*T]().String(), Got: describe(value)}
}

func describe(value any) string {
	if value == nil {
		return "nil"
	}
	if isNil(value) {
		return fmt.Sprintf("a nil %T", value)
	}
	return fmt.Sprintf("a %T", value)
}

// isNil says whether there is nothing in the interface, or a nil pointer.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
