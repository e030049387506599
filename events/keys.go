package events

// The keys of log records. Where a metric or a span has the same value, [Keys]
// says under which attribute.
const (
	KeyEvent           = "event"
	KeyBackendID       = "backendID"
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
	KeyCapability      = "capability"
	KeyServerMessage   = "serverMessage"
	KeyServerName      = "serverName"
	KeyServerVersion   = "serverVersion"
	KeyProtocolVersion = "protocolVersion"
	KeyServer          = "server"
	KeyStatus          = "status"
	KeyTarget          = "target"
	KeySince           = "since"
	KeyTools           = "tools"
	KeyReason          = "reason"
	KeyRemedy          = "remedy"
	KeyPattern         = "pattern"
	KeyPanic           = "panic"
	KeyStack           = "stack"
	KeyKept            = "kept"
	KeyDrainTimeout    = "drainTimeout"
	KeyFile            = "file"
	KeyProblems        = "problems"
	KeyAdded           = "added"
	KeyChanged         = "changed"
	KeyRemoved         = "removed"
	KeyPlace           = "place"
	KeyRecords         = "records"
	KeyComponent       = "component"
)

// A Key is one field of log records and the attribute of metrics and spans with
// the same value.
type Key struct {
	Log       string
	Attribute string // OpenTelemetry's name; empty where only logs have it
	Means     string // Markdown
}

// Keys are all that this project writes, for those who filter or index logs.
var Keys = []Key{
	{KeyEvent, "", "what happened, see above"},
	{KeyBackendID, "candor.backend.id", "which backend of a session"},
	{KeyOperation, "", "the Go method that was called, such as `ListTools`"},
	{KeyMethod, "mcp.method.name", "the method on the wire, such as `tools/list`"},
	{KeyTool, "gen_ai.tool.name", "the tool that was called; on metrics bounded, see `SeriesLimit`"},
	{KeyPrompt, "gen_ai.prompt.name", "the prompt that was asked for; likewise"},
	{KeyOutcome, "", "`ok`, `tool_error`, `cancelled` or `error`; metrics and spans have `error.type` instead"},
	{KeyDuration, "", "in nanoseconds as JSON; metrics have it in seconds"},
	{KeyCode, "rpc.response.status_code", "the JSON-RPC code of a failure, exact"},
	{KeyError, "", "a failure's text; on spans the status"},
	{KeyTraceID, "", "of the span in the context of the call, where there is one"},
	{KeySpanID, "", "likewise"},
	{KeyRequest, "", "only with `WithPayloads`"},
	{KeyResult, "", "only with `WithPayloads`"},
	{KeyCapability, "candor.capability", "what the server advertised"},
	{KeyServerMessage, "", "the server's own words"},
	{KeyServerName, "", "from its handshake"},
	{KeyServerVersion, "", "likewise"},
	{KeyProtocolVersion, "mcp.protocol.version", "of MCP"},
	{KeyServer, "", "the target of a connection, without secrets"},
	{KeyStatus, "", "the status that the server answered over HTTP"},
	{KeyTarget, "", "the target of a backend's connection, without secrets"},
	{KeySince, "", "since when the backend is in its state, in UTC as RFC 3339 writes it"},
	{KeyTools, "", "how many tools a backend offers"},
	{KeyReason, "", "why"},
	{KeyRemedy, "", "what to do about it"},
	{KeyPattern, "", "of the configuration: a tool's name, `*` for any characters"},
	{KeyPanic, "", "what the code panicked with"},
	{KeyStack, "", "of the goroutine that panicked"},
	{KeyKept, "", "how many messages wait at most"},
	{KeyDrainTimeout, "", "how long the calls in flight had, such as `10s`"},
	{KeyFile, "", "the configuration's"},
	{KeyProblems, "", "all that is wrong with it, each with its place"},
	{KeyAdded, "", "names of servers in it that are new"},
	{KeyChanged, "", "of those that are not as they were"},
	{KeyRemoved, "", "of those that are gone"},
	{KeyPlace, "", "the place of the log that could not be written"},
	{KeyRecords, "", "how many records are missing there"},
	{KeyComponent, "", "`opentelemetry`: its SDK speaks"},
}
