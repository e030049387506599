package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// A Failure is a JSON-RPC error to answer with. A [Handler] may return any
// error: those that mcp-go gives a code keep it, a Failure says its own, and
// all others become -32603.
type Failure struct {
	Code    int
	Message string
	Data    any
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// JSONRPCError returns the error as it is answered.
func (f *Failure) JSONRPCError() mcp.JSONRPCError {
	return mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, Error: mcp.JSONRPCErrorDetails{Code: f.Code, Message: f.Message, Data: f.Data}}
}

// overloaded is the code for a request that one of the endpoint's own bounds
// refuses: that of HTTP, since protocol 2026-07-28 wants the codes of
// implementations outside the range that JSON-RPC reserves
// (https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes).
const overloaded = http.StatusServiceUnavailable

// detailsOf returns the JSON-RPC error for any error.
func detailsOf(err error) *mcp.JSONRPCErrorDetails {
	details := &mcp.JSONRPCErrorDetails{Code: failure.AnswerCode(err), Message: err.Error()}
	if known, ok := errors.AsType[coded](err); ok {
		details.Data = known.JSONRPCError().Error.Data
	}
	return details
}

// coded is an error of mcp-go that says what it is in JSON-RPC.
type coded interface {
	error
	JSONRPCError() mcp.JSONRPCError
}

// decode reads the parameters of a request; none are as good as {}.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, into); err != nil {
		return fmt.Errorf("%w: %w", mcp.ErrInvalidParams, err)
	}
	return nil
}
