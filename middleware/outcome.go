package middleware

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// The ways a call can end, as the log calls them.
const (
	OutcomeOK        = "ok"
	OutcomeToolError = "tool_error" // a tool's result with isError
	OutcomeCancelled = "cancelled"  // by the caller
	OutcomeError     = "error"
)

// An Outcome is what came of one call.
type Outcome struct {
	Call     mcpclient.Call
	Result   any // nil on failure and where the method has none
	Err      error
	Duration time.Duration
	// Kind is one of the Outcome constants.
	Kind string
}

func outcomeOf(ctx context.Context, call mcpclient.Call, result any, err error, duration time.Duration) Outcome {
	return Outcome{Call: call, Result: result, Err: err, Duration: duration, Kind: kindOf(ctx, result, err)}
}

func kindOf(ctx context.Context, result any, err error) string {
	if err == nil {
		if tool, ok := result.(*mcp.CallToolResult); ok && tool != nil && tool.IsError {
			return OutcomeToolError
		}
		return OutcomeOK
	}
	// The caller's own context tells; the error alone would also be
	// context.Canceled when the client was closed during the call.
	if errors.Is(ctx.Err(), context.Canceled) {
		return OutcomeCancelled
	}
	return OutcomeError
}

// codes are the JSON-RPC codes that mcp-go keeps as a type. It flattens all
// others to text.
var codes = []struct {
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

// Code returns the JSON-RPC code that the server answered and whether it is
// known: mcp-go v1.2.1 keeps the codes of the specifications and flattens all
// others to text.
func (o Outcome) Code() (int, bool) {
	return codeOf(o.Err)
}

func codeOf(err error) (int, bool) {
	if err == nil {
		return 0, false
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code, true
		}
	}
	return 0, false
}

// errorType is the low-cardinality name of what went wrong: the JSON-RPC code,
// or one of a closed set.
func (o Outcome) errorType() string {
	if o.Kind == OutcomeToolError {
		return "tool_error"
	}
	if code, ok := o.Code(); ok {
		return strconv.Itoa(code)
	}
	if o.Kind == OutcomeCancelled {
		return OutcomeCancelled
	}
	for _, known := range errorTypes {
		if known.matches(o.Err) {
			return known.name
		}
	}
	return "_OTHER"
}

var errorTypes = []struct {
	name    string
	matches func(error) bool
}{
	{"timeout", is(context.DeadlineExceeded)},
	{"unauthorized", func(err error) bool {
		return errors.Is(err, transport.ErrAuthorizationRequired) || errors.Is(err, transport.ErrOAuthAuthorizationRequired)
	}},
	{"session_terminated", is(transport.ErrSessionTerminated)},
	{"malformed_list", is(ErrMalformedList)},
	{"transport", func(err error) bool {
		var failed *transport.Error
		return errors.As(err, &failed)
	}},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// subject returns the name of the tool or the prompt that a call is about.
func subject(call mcpclient.Call) (tool, prompt string) {
	switch request := call.Request.(type) {
	case *mcp.CallToolRequest:
		if request != nil {
			return request.Params.Name, ""
		}
	case *mcp.GetPromptRequest:
		if request != nil {
			return "", request.Params.Name
		}
	}
	return "", ""
}
