package vmcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mcp-candor/candor/mcpclient/failure"
)

// A RefusedError is a JSON-RPC error that a backend answered with, exactly: code,
// message and data, with the secrets of the backend's target masked in its texts.
// Test for it with [errors.As]; it wraps a [failure.RPCError], and that what mcp-go
// makes of it.
type RefusedError struct {
	Backend string // its ID
	Code    int
	Message string
	Data    any
	text    string
	err     error
}

// Error has the code and the server's words.
func (e *RefusedError) Error() string { return e.text }

// Unwrap returns the error as it came.
func (e *RefusedError) Unwrap() error { return e.err }

// refused gives an error the exact answer that it comes from, if it does, with the
// backend's secrets masked.
func (b Backend) refused(err error) error {
	exact, ok := errors.AsType[*failure.RPCError](err)
	if !ok {
		return b.hide(err)
	}
	mask := b.Connector.Mask
	return &RefusedError{Backend: b.ID, Code: exact.Code, Message: mask(exact.Message), Data: maskedData(decoded(exact.Data), mask), text: mask(err.Error()), err: err}
}

// decoded keeps the digits of numbers.
func decoded(data json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // nil where there is none
	return value
}

// maskedData returns a copy of decoded JSON whose texts are masked.
func maskedData(data any, mask func(string) string) any {
	switch data := data.(type) {
	case string:
		return mask(data)
	case []any:
		masked := make([]any, len(data))
		for i, value := range data {
			masked[i] = maskedData(value, mask)
		}
		return masked
	case map[string]any:
		masked := make(map[string]any, len(data))
		for key, value := range data {
			masked[key] = maskedData(value, mask)
		}
		return masked
	default:
		return data
	}
}
