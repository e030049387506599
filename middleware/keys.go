package middleware

// The keys of log records. Where a metric or a span has the same value, [Keys]
// says under which attribute.
const (
	KeyOperation       = "operation"
	KeyMethod          = "method"
	KeyTool            = "tool"
	KeyPrompt          = "prompt"
	KeyOutcome         = "outcome"
	KeyDuration        = "duration"
	KeyCode            = "code"
	KeyError           = "error"
	KeyTraceID         = "trace_id"
	KeySpanID          = "span_id"
	KeyRequest         = "request"
	KeyResult          = "result"
	KeyEvent           = "event"
	KeyCapability      = "capability"
	KeyServerMessage   = "serverMessage"
	KeyServerName      = "serverName"
	KeyServerVersion   = "serverVersion"
	KeyProtocolVersion = "protocolVersion"
	KeyBackendID       = "backendID"
	KeyServer          = "server"
	KeyTarget          = "target"
	KeyTools           = "tools"
	KeyReason          = "reason"
	KeyRemedy          = "remedy"
)

// A Key is one field of log records and the attribute of metrics and spans with
// the same value.
type Key struct {
	Log       string
	Attribute string // empty where only logs have it
	Means     string
}

// Keys are all that this project writes, for those who filter or index logs.
var Keys = []Key{
	{KeyBackendID, AttributeBackendID, "which backend of a session"},
	{KeyOperation, "", "the Go method that was called, such as `ListTools`"},
	{KeyMethod, attrMethod, "the method on the wire, such as `tools/list`"},
	{KeyTool, attrTool, "the tool that was called; on metrics bounded, see `SeriesLimit`"},
	{KeyPrompt, attrPrompt, "the prompt that was asked for; likewise"},
	{KeyOutcome, "", "`ok`, `tool_error`, `cancelled` or `error`; metrics and spans have `" + attrErrorType + "` instead"},
	{KeyDuration, "", "in nanoseconds as JSON; metrics have it in seconds"},
	{KeyCode, attrStatusCode, "the JSON-RPC code of a failure, exact"},
	{KeyError, "", "a failure's text; on spans the status"},
	{KeyTraceID, "", "of the span in the context of the call, where there is one"},
	{KeySpanID, "", "likewise"},
	{KeyRequest, "", "only with `WithPayloads`"},
	{KeyResult, "", "only with `WithPayloads`"},
	{KeyEvent, "", "what happened, see above"},
	{KeyCapability, attrCapability, "what the server advertised"},
	{KeyServerMessage, "", "the server's own words"},
	{KeyServerName, "", "from its handshake"},
	{KeyServerVersion, "", "likewise"},
	{KeyProtocolVersion, attrProtocolVersion, "of MCP"},
	{KeyServer, "", "the target of a connection, without secrets"},
	{KeyTarget, "", "likewise, of a backend"},
	{KeyTools, "", "how many tools a backend offers"},
	{KeyReason, "", "why"},
	{KeyRemedy, "", "what to do about it"},
}
