package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// An RPCError is a JSON-RPC error exactly as a server answered with it: mcp-go's
// client v1.2.1 keeps the codes of the specifications as types and flattens all
// others to a text, which may be empty. Test for it with [errors.As]; it wraps
// what mcp-go made of it, if anything.
type RPCError struct {
	Code    int
	Message string          // the server's own words
	Data    json.RawMessage // as it came; nil where there is none
	Status  int             // of HTTP; 0 where it is not known
	Err     error
}

// Error has the code and the server's words, which may be none.
func (e *RPCError) Error() string {
	text := fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message)
	if e.Message == "" {
		text = fmt.Sprintf("JSON-RPC error %d without a message", e.Code)
	}
	if e.Status >= 300 {
		text += fmt.Sprintf(", with HTTP status %d", e.Status)
	}
	return text
}

// Unwrap returns what mcp-go made of it.
func (e *RPCError) Unwrap() error { return e.Err }

// Exact gives an error the JSON-RPC error that it comes from, as the exchange of
// the call was told of it; where it was told of none it returns the error itself.
func Exact(err error, exchange *wire.Exchange) error {
	refusal, ok := exchange.Refusal()
	if err == nil || !ok {
		return err
	}
	return &RPCError{Code: refusal.Code, Message: refusal.Message, Data: refusal.Data, Status: exchange.Facts().Status, Err: err}
}

// knownCodes are the JSON-RPC codes that mcp-go has a value for.
var knownCodes = []struct {
	err  error
	code int
}{
	{mcp.ErrMethodNotFound, mcp.METHOD_NOT_FOUND},
	{mcp.ErrInvalidParams, mcp.INVALID_PARAMS},
	{mcp.ErrInternalError, mcp.INTERNAL_ERROR},
	{mcp.ErrInvalidRequest, mcp.INVALID_REQUEST},
	{mcp.ErrParseError, mcp.PARSE_ERROR},
	{mcp.ErrRequestInterrupted, mcp.REQUEST_INTERRUPTED},
	{mcp.ErrResourceNotFound, mcp.RESOURCE_NOT_FOUND},
	{mcp.UnsupportedProtocolVersionError{}, mcp.UNSUPPORTED_PROTOCOL_VERSION},
	{mcp.HeaderMismatchError{}, mcp.HEADER_MISMATCH},
	{mcp.MissingRequiredClientCapabilityError{}, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY},
	{mcp.URLElicitationRequiredError{}, mcp.URL_ELICITATION_REQUIRED},
}

// Code returns the JSON-RPC code that an error was answered with, or is to be
// answered with, and whether it has one.
func Code(err error) (code int, known bool) {
	if exact, ok := errors.AsType[*RPCError](err); ok {
		return exact.Code, true
	}
	if coded, ok := errors.AsType[coded](err); ok {
		return coded.JSONRPCError().Error.Code, true
	}
	if hooked, ok := errors.AsType[hooked](err); ok {
		return hooked.ToJSONRPCError().Error.Code, true
	}
	for _, known := range knownCodes {
		if errors.Is(err, known.err) {
			return known.code, true
		}
	}
	return 0, false
}

// coded is an error of mcp-go, or of a server, that says what it is in JSON-RPC.
type coded interface {
	error
	JSONRPCError() mcp.JSONRPCError
}

// hooked is what the hooks of mcp-go's server get.
type hooked interface {
	error
	ToJSONRPCError() mcp.JSONRPCError
}

// AnswerCode is the code to answer a request with whose handler failed: its own,
// that of an interruption if it was cancelled, or that of an internal error.
func AnswerCode(err error) int {
	if code, ok := Code(err); ok {
		return code
	}
	if errors.Is(err, context.Canceled) {
		return mcp.REQUEST_INTERRUPTED
	}
	return mcp.INTERNAL_ERROR
}

// IsKnownCode says whether a specification names the code.
func IsKnownCode(code int) bool {
	for _, known := range knownCodes {
		if known.code == code {
			return true
		}
	}
	return false
}

func hasCode(err error) bool {
	_, ok := Code(err)
	return ok
}

// IsMethodNotFound says whether the server answered that it has no such method,
// -32601: the one code that the rule of tolerance is about.
func IsMethodNotFound(err error) bool {
	code, ok := Code(err)
	return ok && code == mcp.METHOD_NOT_FOUND
}
