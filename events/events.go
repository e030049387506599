package events

import "log/slog"

// The names of what happens besides calls, as the values of [KeyEvent]. They
// never change.
const (
	Contradiction       = "capability_contradiction"
	MalformedList       = "malformed_list"
	ProtocolFallback    = "protocol_fallback"
	Listening           = "listening"
	BackendConnecting   = "backend_connecting"
	BackendReady        = "backend_ready"
	BackendDegraded     = "backend_degraded"
	BackendFailed       = "backend_failed"
	BackendRecovered    = "backend_recovered"
	PatternWithoutMatch = "pattern_without_match"
	RestoreFailed       = "restore_failed"
	WireMissing         = "wire_missing"

	SetLevelFailed     = "set_level_failed"
	SubscribeFailed    = "subscribe_failed"
	UnsubscribeFailed  = "unsubscribe_failed"
	RootsNotTold       = "roots_not_told"
	SessionCloseFailed = "session_close_failed"
	AnswerLost         = "answer_lost"
	MessageLost        = "message_lost"
	ResultUnwritable   = "result_unwritable"
	Panic              = "panic"

	CallsCutOff      = "calls_cut_off"
	ConfigNote       = "config_note"
	ConfigReloaded   = "config_reloaded"
	ConfigInvalid    = "config_invalid"
	ConfigNotApplied = "config_not_applied"
	ConfigNextStart  = "config_next_start"
	ConfigUnwatched  = "config_unwatched"
	LogLost          = "log_lost"
	TelemetryFailed  = "telemetry_failed"
)

// Backend is the name of the event that a backend came into a state, such as
// "ready": [BackendReady].
func Backend(state string) string { return "backend_" + state }

// An Event is something worth a record of its own.
type Event struct {
	Name   string
	Level  slog.Level // of the first record; Means says which are lower
	Means  string
	Fields []string // the keys besides KeyEvent
}

// All are all events of this project, for those who write alert rules.
var All = []Event{
	{
		Contradiction, slog.LevelWarn,
		"A server advertises a capability and answers its method with -32601. The first of each client and method; repeats are DEBUG.",
		ofContradictions,
	},
	{
		MalformedList, slog.LevelWarn,
		"A server answers a list method with a result that has no list in it. Likewise.",
		ofContradictions,
	},
	{
		ProtocolFallback, slog.LevelWarn,
		"A server could not be used on the newest protocol, or left the question for it unanswered; an older one is used.",
		[]string{KeyServer, KeyProtocolVersion, KeyReason},
	},
	{
		Listening, slog.LevelInfo,
		"What a server says unasked is not heard, or not any more. That it has no stream for it (`status`) is DEBUG.",
		[]string{KeyServer, KeyStatus, KeyReason},
	},
	{BackendConnecting, slog.LevelInfo, "A backend has not answered yet; it joins its session when it does.", ofBackends},
	{BackendReady, slog.LevelInfo, "A backend works.", ofBackends},
	{BackendDegraded, slog.LevelInfo, "A backend works, but something that it has is missing.", ofBackends},
	{BackendFailed, slog.LevelError, "A backend does not work.", ofBackends},
	{BackendRecovered, slog.LevelInfo, "A backend that had failed works again.", ofBackends},
	{
		PatternWithoutMatch, slog.LevelWarn,
		"A pattern of the configuration matches nothing that its backend has: a typing error, or the server changed.",
		[]string{KeyBackendID, KeyPattern, KeyRemedy},
	},
	{
		RestoreFailed, slog.LevelWarn,
		"A backend that came back did not take what callers had asked for, such as a subscription.",
		[]string{KeyBackendID, KeyReason},
	},

	{SetLevelFailed, slog.LevelWarn, "Not every backend takes the level of log messages that a caller asked for.", []string{KeyError}},
	{SubscribeFailed, slog.LevelInfo, "A backend does not grant a subscription.", []string{KeyError}},
	{UnsubscribeFailed, slog.LevelWarn, "A subscription that nobody needs any more could not be ended.", []string{KeyError}},
	{RootsNotTold, slog.LevelWarn, "A backend does not know that the caller's roots have changed.", []string{KeyError}},
	{SessionCloseFailed, slog.LevelWarn, "An idle session did not close properly.", []string{KeyError}},
	{AnswerLost, slog.LevelWarn, "An answer could not be written to the caller.", []string{KeyMethod, KeyError}},
	{
		MessageLost, slog.LevelWarn,
		"A caller that does not listen, or not fast enough, loses the oldest messages (`kept` wait), or a message cannot be written as JSON (`error`).",
		[]string{KeyKept, KeyError},
	},
	{ResultUnwritable, slog.LevelError, "A result cannot be written as JSON; the caller gets an error.", []string{KeyMethod, KeyError}},
	{Panic, slog.LevelError, "The code panicked while it answered; the caller gets an error. Report it.", []string{KeyMethod, KeyPanic, KeyStack}},

	{CallsCutOff, slog.LevelWarn, "Calls were still being answered at the shutdown and have been ended.", []string{KeyDrainTimeout}},
	{
		WireMissing, slog.LevelWarn,
		"An HTTP transport of mcp-go has no package wire beneath it, so that what servers answer is misread. Once for each client.",
		[]string{KeyRemedy},
	},
	{ConfigNote, slog.LevelInfo, "Something in the configuration is no error but has no effect, or another than it seems; at the start and at each reload.", nil},
	{ConfigReloaded, slog.LevelInfo, "The configuration was read again and applied.", []string{KeyFile, KeyAdded, KeyChanged, KeyRemoved}},
	{ConfigInvalid, slog.LevelError, "The configuration was read again and is invalid; nothing has changed.", []string{KeyFile, KeyProblems}},
	{ConfigNotApplied, slog.LevelError, "The configuration is good, but what it says did not come about.", []string{KeyFile, KeyError}},
	{ConfigNextStart, slog.LevelWarn, "A part of the configuration changed that takes effect at the next start.", []string{KeyFile}},
	{ConfigUnwatched, slog.LevelWarn, "The configuration is not watched; only SIGHUP has it read again.", []string{KeyError}},
	{
		LogLost, slog.LevelError,
		"A place of the log cannot be written (`error`). Once it can again, a WARN says how many records are missing (`records`).",
		[]string{KeyPlace, KeyError, KeyRemedy, KeyRecords},
	},
	{
		TelemetryFailed, slog.LevelWarn,
		"Metrics, traces or logs could not be sent, or scraped. Repeats of one error are DEBUG.",
		[]string{KeyError, KeyRemedy},
	},
}

// What events of one kind have in common.
var (
	ofContradictions = []string{KeyCapability, KeyMethod, KeyCode, KeyServerMessage, KeyServerName, KeyServerVersion, KeyProtocolVersion}
	// KeyReason and KeyRemedy only where there is a reason.
	ofBackends = []string{KeyBackendID, KeyTarget, KeySince, KeyTools, KeyReason, KeyRemedy}
)
