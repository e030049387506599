package middleware

import "log/slog"

// The stable names of what happens besides calls, as the log's "event". They
// never change; docs/events.md lists them with their fields.
const (
	EventContradiction       = "capability_contradiction"
	EventMalformedList       = "malformed_list"
	EventProtocolFallback    = "protocol_fallback" // written by package connect
	EventBackendConnecting   = "backend_connecting"
	EventBackendReady        = "backend_ready"
	EventBackendDegraded     = "backend_degraded"
	EventBackendFailed       = "backend_failed"
	EventBackendRecovered    = "backend_recovered"
	EventPatternWithoutMatch = "pattern_without_match"
)

// An Event is something worth a record of its own.
type Event struct {
	Name   string
	Level  slog.Level
	Means  string
	Fields []string // keys, besides KeyEvent
}

// Events are all events of this project, for those who write alert rules.
var Events = []Event{
	{
		EventContradiction, slog.LevelWarn,
		"A server advertises a capability and answers its method with -32601. The first of each client and method; repeats are DEBUG.",
		[]string{KeyCapability, KeyMethod, KeyCode, KeyServerMessage, KeyServerName, KeyServerVersion, KeyProtocolVersion},
	},
	{
		EventMalformedList, slog.LevelWarn,
		"A server answers a list method with a result that has no list in it. Likewise.",
		[]string{KeyCapability, KeyMethod, KeyCode, KeyServerMessage, KeyServerName, KeyServerVersion, KeyProtocolVersion},
	},
	{
		EventProtocolFallback, slog.LevelWarn,
		"A server could not be used on the newest protocol, or left the question for it unanswered; an older one is used.",
		[]string{KeyServer, KeyProtocolVersion, KeyReason},
	},
	{
		EventBackendConnecting, slog.LevelInfo,
		"A backend has not answered yet; it joins its session when it does.",
		[]string{KeyBackendID, KeyTarget},
	},
	{
		EventBackendReady, slog.LevelInfo,
		"A backend works.",
		[]string{KeyBackendID, KeyTarget, KeyTools},
	},
	{
		EventBackendDegraded, slog.LevelInfo,
		"A backend works, but something that it has is missing.",
		[]string{KeyBackendID, KeyTarget, KeyTools, KeyReason, KeyRemedy},
	},
	{
		EventBackendFailed, slog.LevelError,
		"A backend does not work.",
		[]string{KeyBackendID, KeyTarget, KeyTools, KeyReason, KeyRemedy},
	},
	{
		EventBackendRecovered, slog.LevelInfo,
		"A backend that had failed works again.",
		[]string{KeyBackendID, KeyTarget, KeyTools},
	},
	{
		EventPatternWithoutMatch, slog.LevelWarn,
		"A pattern of the configuration matches nothing that its backend has: a typing error, or the server changed.",
		[]string{KeyBackendID, KeyReason},
	},
}
