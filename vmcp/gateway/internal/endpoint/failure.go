package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
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

// codes are those of the errors that mcp-go's client makes of an answer.
var codes = []struct {
	err  error
	code int
}{
	{mcp.ErrParseError, mcp.PARSE_ERROR},
	{mcp.ErrInvalidRequest, mcp.INVALID_REQUEST},
	{mcp.ErrMethodNotFound, mcp.METHOD_NOT_FOUND},
	{mcp.ErrInvalidParams, mcp.INVALID_PARAMS},
	{mcp.ErrResourceNotFound, mcp.RESOURCE_NOT_FOUND},
	{mcp.ErrRequestInterrupted, mcp.REQUEST_INTERRUPTED},
	{context.Canceled, mcp.REQUEST_INTERRUPTED},
}

// detailsOf returns the JSON-RPC error for any error.
func detailsOf(err error) *mcp.JSONRPCErrorDetails {
	details := &mcp.JSONRPCErrorDetails{Code: codeOf(err), Message: err.Error()}
	if known, ok := errors.AsType[coded](err); ok {
		details.Code, details.Data = known.JSONRPCError().Error.Code, known.JSONRPCError().Error.Data
	}
	return details
}

// coded is an error of mcp-go that says what it is in JSON-RPC.
type coded interface {
	error
	JSONRPCError() mcp.JSONRPCError
}

func codeOf(err error) int {
	if mcp.IsHeaderMismatch(err) {
		return mcp.HEADER_MISMATCH
	}
	if mcp.IsMissingRequiredClientCapability(err) {
		return mcp.MISSING_REQUIRED_CLIENT_CAPABILITY
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return mcp.INTERNAL_ERROR
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
