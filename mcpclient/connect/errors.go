package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// An Error says why a connection could not be opened. Test for it with
// [errors.As], and for its cause with [errors.Is] and [errors.As]: the causes
// keep their types, such as *[wire.StatusError], [exec.ErrNotFound],
// [transport.ErrAuthorizationRequired] or [context.DeadlineExceeded].
type Error struct {
	Target string // what was connected to, without secrets
	Stage  string // "target", "start", "handshake" or "first request"
	Err    error
	Stderr string // the last that a process wrote to its standard error
	First  *Error // of the newest protocol, where the older one failed too

	secrets []string // of the target
}

// Error is the reason and what to do about it.
func (e *Error) Error() string {
	return e.Reason() + "; " + Remedy(e.Err)
}

// Reason says who, at which stage, why, what the server wrote, and what had
// failed before. Where a server repeats the target's secrets they are masked;
// the text of Err itself is not.
func (e *Error) Reason() string {
	reason := fmt.Sprintf("connect to %s: the %s failed: %s", e.Target, e.Stage, e.words())
	if e.Stderr != "" {
		reason += fmt.Sprintf("; the server wrote %q", e.Stderr)
	}
	if e.First != nil && (e.First.Stage != e.Stage || e.First.words() != e.words()) {
		reason += fmt.Sprintf("; before that, on the newest protocol, the %s failed: %s", e.First.Stage, e.First.words())
	}
	return reason
}

func (e *Error) words() string { return mask(Words(e.Err), e.secrets) }

// Words are the text of an error without what mcp-go v1.2.1 says twice in it,
// for people to read. Secrets are not masked, see [Connector.Mask].
func Words(err error) string {
	return strings.ReplaceAll(err.Error(), "transport error: failed to send request: failed to send request: ", "")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (a attempt) failed(stage string, err error, t transport.Interface) *Error {
	failure := &Error{Target: nameOf(a.target), Stage: stage, Err: err, secrets: a.secrets}
	if process, ok := t.(*stdioTransport); ok {
		failure.Stderr = process.lastWords()
	}
	return failure
}

// mendable says whether an older protocol may help: not when nobody answered,
// when the answer was about something else, or when the caller is gone.
func mendable(ctx context.Context, failure *Error) bool {
	if ctx.Err() != nil || failure.Stage == "target" || failure.Stage == "start" {
		return false
	}
	if failure.Stage == "first request" {
		return isUnsupported(failure.Err)
	}
	var status *wire.StatusError
	var tooLong *wire.BodyTooLargeError
	return !errors.As(failure.Err, &status) &&
		!errors.As(failure.Err, &tooLong) &&
		!isDialError(failure.Err) &&
		!isUntrusted(failure.Err) &&
		!errors.Is(failure.Err, http.ErrSchemeMismatch) &&
		!isUnauthorized(failure.Err) &&
		!errors.Is(failure.Err, transport.ErrLegacySSEServer)
}
