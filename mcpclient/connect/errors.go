package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// The stages of an opening.
const (
	stageTarget       = "target"
	stageStart        = "start"
	stageHandshake    = "handshake"
	stageVerification = "first request"
)

// An Error says why a connection could not be opened. Test for it with
// [errors.As], and for its cause with [errors.Is] and [errors.As]: the causes
// keep their types, such as *[wire.StatusError], [exec.ErrNotFound],
// [transport.ErrAuthorizationRequired] or [context.DeadlineExceeded]. What kind of
// failure it is says [failure.Of].
type Error struct {
	Target string // what was connected to, without secrets
	Stage  string // "target", "start", "handshake" or "first request"
	Err    error
	Stderr string // the last that a process wrote to its standard error before it was closed
	First  *Error // of the newest protocol, where the older one failed too

	secrets []string // of the target
}

// Error is the reason and what to do about it.
func (e *Error) Error() string {
	return e.Reason() + "; " + e.remedy()
}

func (e *Error) remedy() string {
	if remedy, is := e.Misconfigured(); is {
		return remedy
	}
	return failure.Of(e.Err).Remedy()
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

// words are masked before they are shortened: half a secret is not recognised.
func (e *Error) words() string {
	if e.Err == nil {
		return ""
	}
	return failure.Of(masked{mask(e.Err.Error(), e.secrets), e.Err}).Words()
}

// masked is an error whose text has no secrets in it.
type masked struct {
	text string
	error
}

func (m masked) Error() string { return m.text }

func (m masked) Unwrap() error { return m.error }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Misconfigured says whether it is the target that cannot be right, and what to
// do about it: package failure asks.
func (e *Error) Misconfigured() (remedy string, is bool) {
	if errors.Is(e.Err, errDir) {
		return "check the working directory", true
	}
	if none, ok := errors.AsType[*TargetError](e.Err); ok {
		return none.Instead, true
	}
	return "correct how the server is described", e.Stage == stageTarget
}

func (a attempt) failed(stage string, err error, t transport.Interface) *Error {
	failed := &Error{Target: nameOf(a.target), Stage: stage, Err: err, secrets: a.secrets}
	if process, ok := t.(*stdioTransport); ok {
		failed.Stderr = process.lastWords(err)
	}
	return failed
}

// mendable says whether an older protocol may help: not when nobody answered,
// when the answer was about something else, or when the caller is gone.
func mendable(ctx context.Context, failed *Error) bool {
	switch read := failure.Of(failed.Err); {
	case ctx.Err() != nil:
		return false
	case failed.Stage == stageVerification:
		return read.Kind == failure.Incompatible
	default:
		return failed.Stage == stageHandshake && read.OlderMayHelp()
	}
}
