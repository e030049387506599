package middleware

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
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

	exchange *wire.Exchange // what the wire knows; nil where nobody listened
}

func outcomeOf(ctx context.Context, call mcpclient.Call, result any, err error, duration time.Duration, exchange *wire.Exchange) Outcome {
	return Outcome{Call: call, Result: result, Err: err, Duration: duration, Kind: kindOf(ctx, result, err), exchange: exchange}
}

// method is the name on the wire: on protocol 2026-07-28 the handshake of
// mcp-go is a server/discover.
func (o Outcome) method() mcp.MCPMethod {
	if said, ok := o.Result.(*mcp.InitializeResult); ok && said != nil && mcp.IsModernProtocol(said.ProtocolVersion) {
		return mcp.MethodServerDiscover
	}
	return o.Call.Method
}

// sendsNothing says whether mcp-go answers a call itself: protocol 2026-07-28
// has neither ping nor logging/setLevel nor subscriptions by request.
func sendsNothing(call mcpclient.Call) bool {
	switch call.Method {
	case "":
		return true
	case mcp.MethodPing, mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return mcp.IsModernProtocol(protocolVersion(call))
	default:
		return false
	}
}

func protocolVersion(call mcpclient.Call) string {
	if server, ok := call.Server(); ok {
		return server.ProtocolVersion
	}
	return ""
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

type knownCode struct {
	err  error
	code int
}

// knownCodes are the JSON-RPC codes that mcp-go keeps as a type. It flattens all
// others to text.
var knownCodes = []knownCode{
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
// known. mcp-go v1.2.1 keeps the codes of the specifications and flattens all
// others to text: those are known where the connection was opened by package
// connect or has a wire.Transport under it; see [wire.Exchange].
func (o Outcome) Code() (int, bool) {
	if o.Err == nil {
		return 0, false
	}
	if facts := o.exchange.Facts(); facts.Refused {
		return facts.Code, true
	}
	return codeOf(o.Err)
}

func codeOf(err error) (int, bool) {
	for _, known := range knownCodes {
		if errors.Is(err, known.err) {
			return known.code, true
		}
	}
	return 0, false
}

// isKnownCode says whether a specification names the code.
func isKnownCode(code string) bool {
	return slices.ContainsFunc(knownCodes, func(known knownCode) bool { return strconv.Itoa(known.code) == code })
}

// errorType is the low-cardinality name of what went wrong: the JSON-RPC code,
// an HTTP status that has a name, or one of a closed set.
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
	if failed, ok := errors.AsType[*wire.StatusError](o.Err); ok && http.StatusText(failed.StatusCode) != "" {
		return strconv.Itoa(failed.StatusCode)
	}
	for _, known := range errorTypes {
		if known.matches(o.Err) {
			return known.name
		}
	}
	return other
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
	{EventMalformedList, is(ErrMalformedList)},
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
