package failure

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// A Failure is an error, read. It is a value; its methods answer from the table.
// The zero Failure is that of no error.
type Failure struct {
	Kind Kind
	// Status is that of HTTP, where one came with the failure, else 0.
	Status int
	// RetryAfter is how long the server asks to be left alone, 0 where it did not
	// ask. It is the server's word, not bounded by anything.
	RetryAfter time.Duration

	err    error
	cause  cause
	code   int
	coded  bool // there is a code
	unsent bool // whatever its kind
}

// Of reads an error. It takes apart what it was wrapped in.
func Of(err error) Failure {
	if err == nil {
		return Failure{}
	}
	f := Failure{err: err, cause: causeOf(err), unsent: isDial(err) || isUnsent(err)}
	f.Kind = f.cause.kind
	f.code, f.coded = Code(err)
	if status, ok := errors.AsType[*wire.StatusError](err); ok {
		f.Status, f.RetryAfter = status.StatusCode, status.RetryAfter
	} else if exact, ok := errors.AsType[*RPCError](err); ok {
		f.Status = exact.Status
	}
	return f
}

// OfStatus reads an answer that is told by its HTTP status alone.
func OfStatus(status int) Failure {
	known := ofStatus(status)
	return Failure{Kind: known.kind, Status: status, cause: known}
}

// isUnsent says whether an error says by itself that nothing was sent.
func isUnsent(err error) bool {
	known, ok := errors.AsType[interface {
		error
		NotSent() bool
	}](err)
	return ok && known.NotSent()
}

// Code is the JSON-RPC code that the server answered with, and whether it did.
func (f Failure) Code() (code int, ok bool) { return f.code, f.coded }

// NotSent says whether the server has certainly done nothing with the request:
// it never left, or was turned away unread. It may then be sent again, whatever
// it is.
func (f Failure) NotSent() bool { return f.unsent || kinds[f.Kind].notSent }

// Transient says whether the same may work later without anybody's doing.
func (f Failure) Transient() bool {
	return kinds[f.Kind].transient || f.Kind == Other && f.unsent
}

// NeedsPerson says whether only a person can mend it: trying again soon is of no
// use.
func (f Failure) NeedsPerson() bool { return kinds[f.Kind].person }

// Repeatable says whether the request may be sent again when the time has come.
// A harmless request is one that may be done twice, such as a list.
func (f Failure) Repeatable(harmless bool) bool {
	return f.Transient() && (harmless || f.NotSent())
}

// Consequence is what the failure means for the connection and its backend. An
// HTTP status other than of success makes even a JSON-RPC error a reason to
// doubt: servers word the loss of a session in many ways.
func (f Failure) Consequence() Consequence {
	if f.Kind == Refused && f.Status >= http.StatusBadRequest && f.Status < http.StatusInternalServerError {
		return Doubt
	}
	return kinds[f.Kind].consequence
}

// Answered says whether the server answered the request, if not with what was
// asked for.
func (f Failure) Answered() bool { return f.Kind >= Unusable || f.Kind == None }

// OlderMayHelp says whether, in a handshake, a fresh connection on an older
// protocol may do better: not where nobody answered or the answer was about
// something else.
func (f Failure) OlderMayHelp() bool { return kinds[f.Kind].older }

// EndsSession says whether nothing can be asked any more in the session.
func (f Failure) EndsSession() bool { return f.Kind == SessionLost || f.Kind == Ended }

// Type is OpenTelemetry's error.type: the JSON-RPC code, an HTTP status that has
// a name, or one of a small closed set, "_OTHER" last.
func (f Failure) Type() string {
	switch {
	case f.coded:
		return strconv.Itoa(f.code)
	case f.Status != 0 && http.StatusText(f.Status) != "":
		return strconv.Itoa(f.Status)
	default:
		return cmp.Or(f.cause.errorType, kinds[f.Kind].errorType, "_OTHER")
	}
}

// Remedy says what a person can do, in one clause.
func (f Failure) Remedy() string {
	if known, ok := errors.AsType[misconfigured](f.err); ok && f.Kind == Misconfigured {
		if remedy, is := known.Misconfigured(); is {
			return remedy
		}
	}
	return cmp.Or(f.cause.remedy, kinds[f.Kind].remedy)
}

// Words are the text of the error for people to read: without what mcp-go v1.2.1
// says twice in it, never empty and not longer than they can be read. Secrets are
// not masked.
func (f Failure) Words() string {
	if f.err == nil {
		return ""
	}
	return f.bounded(strings.ReplaceAll(f.err.Error(), "transport error: failed to send request: failed to send request: ", ""))
}

// ServerWords are what a server said of a method that it does not have, without
// what mcp-go puts before it.
func (f Failure) ServerWords() string {
	if f.err == nil {
		return ""
	}
	return strings.TrimPrefix(f.err.Error(), mcp.ErrMethodNotFound.Error()+": ")
}

// longestWords is how many characters of an error people are shown.
const longestWords = 2 << 10

func (f Failure) bounded(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "a failure without words: " + f.Kind.String()
	case strings.HasSuffix(text, ":"):
		return text + " " + f.Kind.String() + ", and no more words"
	}
	beginning, left := plain.Cut(text, longestWords)
	if left > 0 {
		return fmt.Sprintf("%s... (and %d characters more)", beginning, left)
	}
	return beginning
}
