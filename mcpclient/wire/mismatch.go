package wire

import "fmt"

// A MismatchError says that a success of HTTP holds the answer to another request.
// Test for it with [errors.As]. To guess whose it is would be unsafe: calls go side
// by side. As with a [*BodyTooLargeError], mcp-go v1.2.1 passes it on from a JSON
// body; for an event stream [Exchange.Failure] has it.
type MismatchError struct {
	Sent string // the id of the request, as JSON
	Got  string // the id that the answer has, as JSON, at most 128 bytes of it
}

// Error names both ids.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("the server answered request %s instead of %s", e.Got, e.Sent)
}
