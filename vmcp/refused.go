package vmcp

import (
	"encoding/json"
	"errors"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// A RefusedError is a JSON-RPC error that a backend answered with, exactly: code,
// message and data, with the secrets of the backend's target masked in its texts.
// Test for it with [errors.As]; it wraps the error that mcp-go makes of it.
type RefusedError struct {
	Backend string // its ID
	Code    int
	Message string
	Data    any
	err     error
}

// Error returns mcp-go's text.
func (e *RefusedError) Error() string { return e.err.Error() }

// Unwrap returns mcp-go's error.
func (e *RefusedError) Unwrap() error { return e.err }

// refused gives an error the exact answer that it comes from, if it does.
func refused(m *member, err error, exchange *wire.Exchange) error {
	refusal, ok := exchange.Refusal()
	if err == nil || !ok {
		return err
	}
	if _, repeated := errors.AsType[*NotRepeatedError](err); repeated {
		return err
	}
	return &RefusedError{Backend: m.ID, Code: refusal.Code, Message: m.Connector.Mask(refusal.Message), Data: maskedData(decoded(refusal.Data), m.Connector.Mask), err: err}
}

func decoded(data json.RawMessage) (value any) {
	_ = json.Unmarshal(data, &value) // nil where there is none
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
