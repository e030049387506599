package instrument

import (
	"context"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
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
	if failure.Of(ctx.Err()).Kind == failure.Cancelled {
		return OutcomeCancelled
	}
	return OutcomeError
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
	return failure.Code(o.Err)
}

// isKnownCode says whether a specification names the code.
func isKnownCode(code string) bool {
	number, err := strconv.Atoi(code)
	return err == nil && failure.IsKnownCode(number)
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
	return failure.Of(o.Err).Type()
}

// EndsSession says whether the session of the call cannot go on.
func (o Outcome) EndsSession() bool { return failure.Of(o.Err).EndsSession() }
