package instrument

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
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

// OutcomeOf says how a call ended that began with ctx: whether its caller
// cancelled it is the context's to say. The exchange is what the wire knows of
// the call, nil where nobody listened.
func OutcomeOf(ctx context.Context, call mcpclient.Call, result any, err error, duration time.Duration, exchange *wire.Exchange) Outcome {
	return Outcome{Call: call, Result: result, Err: err, Duration: duration, Kind: kindOf(ctx, result, err), exchange: exchange}
}

// Method is the name on the wire: on protocol 2026-07-28 the handshake of
// mcp-go is a server/discover.
func (o Outcome) Method() mcp.MCPMethod {
	if said, ok := o.Result.(*mcp.InitializeResult); ok && said != nil && mcp.IsModernProtocol(said.ProtocolVersion) {
		return mcp.MethodServerDiscover
	}
	return o.Call.Method
}

// Facts are what the wire knows of the call; the zero value where nobody
// listened.
func (o Outcome) Facts() wire.Facts { return o.exchange.Facts() }

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
	if facts := o.Facts(); facts.Refused {
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

// ErrorType is the low-cardinality name of what went wrong: the JSON-RPC code,
// an HTTP status that has a name, or one of a closed set, "_OTHER" last. It is
// empty for a success.
func (o Outcome) ErrorType() string {
	switch o.Kind {
	case OutcomeOK:
		return ""
	case OutcomeToolError:
		return OutcomeToolError
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
	{events.MalformedList, is(mcpclient.ErrMalformedList)},
	{"transport", func(err error) bool {
		var failed *transport.Error
		return errors.As(err, &failed)
	}},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// EndsSession says whether the session of the call cannot go on.
func (o Outcome) EndsSession() bool {
	return errors.Is(o.Err, transport.ErrSessionTerminated) || errors.Is(o.Err, transport.ErrTransportClosed)
}

// ServerMessage is what a server said of a failure, without what mcp-go puts
// before it.
func ServerMessage(err error) string {
	return strings.TrimPrefix(err.Error(), mcp.ErrMethodNotFound.Error()+": ")
}

// codeOnTheWire is the code that mcp-go's server answers an error with.
func codeOnTheWire(err error) (code int, known bool) {
	if answered, ok := errors.AsType[interface {
		error
		ToJSONRPCError() mcp.JSONRPCError
	}](err); ok { // what its hooks get
		return answered.ToJSONRPCError().Error.Code, true
	}
	if answered, ok := errors.AsType[interface {
		error
		JSONRPCError() mcp.JSONRPCError
	}](err); ok {
		return answered.JSONRPCError().Error.Code, true
	}
	return 0, false
}
