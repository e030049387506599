package failure

// A Kind is what a failure is about. The set is closed: what fits nowhere else
// is [Other].
type Kind int

// The kinds of failures.
const (
	// None is that of no error at all.
	None Kind = iota
	// Unreachable: nobody could be reached at the address. Nothing was sent.
	Unreachable
	// Untrusted: the certificate of who answered is not trusted. Nothing was sent.
	Untrusted
	// LoginWanted: the server wants to know who asks, HTTP 401.
	LoginWanted
	// Forbidden: who asks may not, HTTP 403.
	Forbidden
	// RateLimited: the server was asked too often, HTTP 429, and has not looked
	// at the request; [Failure.Wait] says until when.
	RateLimited
	// Overloaded: the server, or a proxy before it, cannot answer at the moment.
	Overloaded
	// Failing: the server answers with an HTTP status that says that it failed.
	Failing
	// Rejected: the server answers with an HTTP status and nothing that answers
	// the request. It may be about the request, or about the session.
	Rejected
	// SessionLost: the server no longer knows the session.
	SessionLost
	// Ended: the process, or the event stream that all answers come over, is gone.
	Ended
	// Broken: the connection broke while the answer was waited for.
	Broken
	// TimedOut: no answer came in time.
	TimedOut
	// Cancelled: the caller gave up, or the connection was closed meanwhile.
	Cancelled
	// Undecodable: what came back cannot be read as an answer to the request.
	Undecodable
	// Unusable: an answer came, and its result is none: it is too long, of
	// another shape, or a list without a list in it.
	Unusable
	// Refused: the server answered with a JSON-RPC error, see [Failure.Code].
	Refused
	// Incompatible: the two have no protocol version in common.
	Incompatible
	// Misconfigured: the target cannot be what was meant: no such command, a URL
	// that is none, TLS where there is none.
	Misconfigured
	// Internal: a program broke a contract, never the server.
	Internal
	// Other is everything else.
	Other
)

// A Consequence is what a failure means for the connection, and with it for the
// state of the backend behind it.
type Consequence int

// The consequences, the mildest first.
const (
	// Keep: it was an answer, or says nothing about the backend, which keeps its state.
	Keep Consequence = iota
	// Count: no answer came. Some of these in a row, with nothing else between
	// them, are a reason to doubt.
	Count
	// Doubt: it may be about the request or about the backend. A cheap request
	// in the same session decides.
	Doubt
	// Renew: the session is lost, and a new one may be had at once.
	Renew
	// Fail: the connection is of no use any more, and the backend has failed.
	Fail
)

// traits are what is known of a kind.
type traits struct {
	name        string // in words, for logs and tests
	errorType   string // OpenTelemetry's error.type, where neither a code nor a status says it
	remedy      string // what a person can do, in one clause
	consequence Consequence
	notSent     bool // the server has certainly not seen the request
	transient   bool // it may work later, and nobody need do anything for that
	person      bool // only a person can mend it
	older       bool // in a handshake: a fresh connection on an older protocol may help
}

const seeTheServer = "see what the server says, here and in its own log"

// kinds is the table.
var kinds = [...]traits{
	None:          {name: "none"},
	Unreachable:   {"unreachable", "transport", "check the address, and that the server is running", Fail, true, true, false, false},
	Untrusted:     {"untrusted", "transport", "the certificate is not trusted: check the address, or trust who issued it", Fail, true, false, true, false},
	LoginWanted:   {"login wanted", "unauthorized", "the server wants other credentials: check the headers, such as Authorization", Count, true, false, true, false},
	Forbidden:     {"forbidden", "transport", "the server wants other credentials: check the headers, such as Authorization", Count, true, false, true, false},
	RateLimited:   {"rate limited", "transport", "the server is asked too often: try again later", Count, true, true, false, false},
	Overloaded:    {"overloaded", "transport", "the server, or a proxy before it, is failing: try again later and tell those who run it", Count, false, true, false, false},
	Failing:       {"failing", "transport", "the server, or a proxy before it, is failing: try again later and tell those who run it", Count, false, false, false, false},
	Rejected:      {"rejected", "transport", seeTheServer, Doubt, false, false, false, false},
	SessionLost:   {"session lost", "session_terminated", "the server no longer knows the session: connect again", Renew, false, false, false, true},
	Ended:         {"ended", "transport", "the server ended: run its command by hand to see why", Fail, false, true, false, true},
	Broken:        {"broken", "transport", seeTheServer, Count, false, true, false, true},
	TimedOut:      {"timed out", "timeout", "the server did not answer in time: check that it is an MCP server, or allow it more time", Count, false, true, false, true},
	Cancelled:     {"cancelled", "transport", "it was cancelled: try again", Keep, false, true, false, true},
	Undecodable:   {"undecodable", "transport", seeTheServer, Count, false, false, false, true},
	Unusable:      {"unusable", "_OTHER", seeTheServer, Keep, false, false, false, false},
	Refused:       {"refused", "", seeTheServer, Keep, false, false, false, true},
	Incompatible:  {"incompatible", "", "the server speaks no protocol version that was asked for: update it, or ask for one that it supports", Keep, false, false, true, true},
	Misconfigured: {"misconfigured", "misconfigured", "check the configuration", Fail, true, false, true, false},
	Internal:      {"internal", "_OTHER", "this is a fault of the program, or of a middleware in it: tell its authors", Keep, false, false, false, true},
	Other:         {"other", "_OTHER", seeTheServer, Keep, false, false, false, true},
}

// String is the kind in words, such as "rate limited".
func (k Kind) String() string {
	if k < None || k > Other {
		return "Kind?"
	}
	return kinds[k].name
}
