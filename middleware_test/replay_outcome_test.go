package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
)

// outcome is what a caller can tell by the types: a list or a kind of error.
type outcome struct {
	kind  string
	words string // of the server, that the error must have in it
	event string // of the one WARN, if there is to be one
}

const (
	emptyList      = "an empty list"
	noList         = "error: no list"
	contradiction  = "error -32601, a contradiction"
	unauthorized   = "error: authorization required"
	sessionEnded   = "error: session ended"
	deadline       = "error: deadline exceeded"
	cancelled      = "error: cancelled"
	undecodable    = "error: cannot be decoded"
	connectionLost = "error: connection lost"
	repeatedCursor = "error: repeated cursor"
	tooManyPages   = "error: too many pages"
	otherError     = "error without a type"
	anotherAnswer  = "error: the answer to another request"
)

// codes are those that have a sentinel in mcp-go.
var codes = map[int]error{
	-32700: mcp.ErrParseError, -32600: mcp.ErrInvalidRequest, -32601: mcp.ErrMethodNotFound,
	-32602: mcp.ErrInvalidParams, -32603: mcp.ErrInternalError, -32002: mcp.ErrResourceNotFound,
}

func listKind(n names) string {
	switch {
	case n == nil:
		return "a nil list"
	case len(n) == 0:
		return emptyList
	default:
		return "a list of " + strings.Join(n, ", ")
	}
}

// kindOf names what a caller got, by types alone.
func kindOf(n names, err error) string {
	if err == nil {
		return listKind(n)
	}
	var partial *middleware.PartialListError
	if errors.As(err, &partial) {
		return fmt.Sprintf("%s, after %d entries", kindOf(nil, partial.Err), partial.Items)
	}
	var contradicted *middleware.ContradictionError
	var status *wire.StatusError
	switch {
	case errors.Is(err, transport.ErrSessionTerminated):
		return sessionEnded
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return unauthorized
	case errors.As(err, &status):
		return fmt.Sprintf("error: HTTP %d", status.StatusCode)
	case errors.As(err, &contradicted) && errors.Is(err, mcp.ErrMethodNotFound):
		return contradiction
	case errors.Is(err, middleware.ErrMalformedList):
		return noList
	}
	for code, sentinel := range codes {
		if errors.Is(err, sentinel) {
			return fmt.Sprintf("error %d", code)
		}
	}
	return brokenKind(err)
}

func brokenKind(err error) string {
	var shape *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var mismatch *wire.MismatchError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return deadline
	case errors.Is(err, context.Canceled):
		return cancelled
	case errors.Is(err, client.ErrRepeatedListCursor):
		return repeatedCursor
	case errors.Is(err, middleware.ErrTooManyPages):
		return tooManyPages
	case errors.As(err, &mismatch):
		return anotherAnswer
	case errors.Is(err, transport.ErrTransportClosed), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return connectionLost
	case errors.As(err, &shape), errors.As(err, &syntax):
		return undecodable
	default:
		return otherError
	}
}

// owed is what a caller of the default chain gets from a list of the case.
func (c realCase) owed(w link) outcome {
	l, _ := c.list()
	if special, ok := specialOutcomes[c.ID]; ok {
		return special(w)
	}
	code, status := c.Answer.Code, c.Answer.HTTPStatus
	switch {
	case c.Expect == "empty":
		return outcome{kind: emptyList, event: events.Contradiction}
	case c.Expect == "malformed":
		return outcome{kind: emptyList, event: events.MalformedList}
	case c.hangs():
		return outcome{kind: deadline}
	case status == 401:
		return outcome{kind: unauthorized}
	case code != nil && *code == -32601 && l.method == "tools/list" && c.advertises("tools") && c.Cursor == "":
		return outcome{kind: contradiction, words: c.Answer.Message, event: events.Contradiction}
	case code != nil && codes[*code] != nil:
		return outcome{kind: fmt.Sprintf("error %d", *code), words: c.Answer.Message}
	case code != nil:
		return outcome{kind: otherError, words: c.Answer.Message}
	case status >= 300:
		return outcome{kind: fmt.Sprintf("error: HTTP %d", status)}
	default:
		return outcome{kind: listKind(c.listed(l))}
	}
}

// listed are the entries of the case's result, read without mcp-go.
func (c realCase) listed(l list) names {
	var result map[string]json.RawMessage
	var entries []struct{ Name string }
	if json.Unmarshal(c.Answer.Result, &result) != nil || json.Unmarshal(result[l.member], &entries) != nil {
		return nil
	}
	all := names{}
	for _, entry := range entries {
		all = append(all, entry.Name)
	}
	return all
}

func always(kind string) func(link) outcome {
	return func(link) outcome { return outcome{kind: kind} }
}

// specialOutcomes are those that depend on more than the answer's envelope.
var specialOutcomes = map[string]func(link) outcome{
	"B10": always("error -32601"),
	"E11": func(link) outcome { return outcome{kind: "error -32603", words: "cursor_invalid"} },
	"F03": func(link) outcome { return outcome{kind: noList, event: events.MalformedList} },
	"F04": func(w link) outcome {
		if w.transport == "stdio" { // where such a line answers nothing
			return outcome{kind: deadline}
		}
		return outcome{kind: undecodable}
	},
	"F06": always("a list of ok, bad"),
	"F07": always(undecodable),
	"F13": always("a list of ok, bad"),
	"G05": always("a list of ok, last"),
	"G06": always(repeatedCursor + ", after 2 entries"),
	"G07": always(connectionLost),
	"G08": always(repeatedCursor + ", after 2 entries"),
	"I01": func(w link) outcome {
		if w.isModern() { // where there is no session that could have ended
			return outcome{kind: "error: HTTP 404"}
		}
		return outcome{kind: sessionEnded}
	},
	"L05": func(w link) outcome {
		switch w.transport {
		case "stdio": // where mcp-go waits for the right one
			return outcome{kind: deadline}
		case "in-process": // a function of another's transport, which pairs as it returns
			return outcome{kind: "a list of ok"}
		default:
			return outcome{kind: anotherAnswer}
		}
	},
	"X01": always("error -32601, after 1 entries"),
	"X02": always("error -32602, after 1 entries"),
	"X04": always(deadline + ", after 1 entries"),
	"X07": always(fmt.Sprintf("%s, after %d entries", tooManyPages, mostPages)),
	"X12": always(undecodable),
}

func (o outcome) failed() bool { return strings.HasPrefix(o.kind, "error") }

// lost says whether the connection is of no use after it.
func (o outcome) lost() bool {
	return strings.HasPrefix(o.kind, sessionEnded) || strings.HasPrefix(o.kind, connectionLost)
}

// verdict collects what is wrong with one replay.
type verdict struct{ wrong []string }

// Errorf makes a verdict an assert.TestingT.
func (v *verdict) Errorf(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// met asserts that a caller got what it was owed.
func (v *verdict) met(want outcome, n names, err error) {
	if assert.Equal(v, want.kind, kindOf(n, err), "%v", err) && want.words != "" {
		assert.ErrorContains(v, err, want.words)
	}
}

// heard asserts what the log says of calls and contradictions: one WARN of the
// event that is owed, none of another, and nothing louder.
func (v *verdict) heard(log *mcptest.Journal, want outcome) {
	var said, loud []string
	for _, r := range log.Take() {
		event, _ := r["event"].(string)
		about := event == events.Contradiction || event == events.MalformedList
		switch {
		case about && r["level"] == slog.LevelWarn.String():
			said = append(said, event)
		case (about || r["msg"] == "mcp call") && r["level"] == slog.LevelError.String():
			loud = append(loud, fmt.Sprint(r))
		case r["msg"] == "mcp call" && r["level"] == slog.LevelWarn.String() && !want.failed():
			loud = append(loud, fmt.Sprint(r))
		}
	}
	var owed []string
	if want.event != "" {
		owed = []string{want.event}
	}
	assert.Equal(v, owed, slices.Compact(said), "the WARN of the event")
	assert.Len(v, said, len(owed), "how often it is said")
	assert.Empty(v, loud, "louder than it is owed")
}
