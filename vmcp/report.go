package vmcp

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/middleware"
)

// A State says how much of a backend a session has.
type State string

// The states of a backend.
const (
	// Ready: all that the backend advertised is there.
	Ready State = "ready"
	// Degraded: the backend serves, but something that it advertised is
	// missing or had to be left out.
	Degraded State = "degraded"
	// Connecting: the backend has not answered yet; it joins when it does.
	Connecting State = "connecting"
	// Failed: the session cannot use the backend.
	Failed State = "failed"
)

// A Report says, for each backend, what is there, what is missing and why. It
// is the one source of what the log, the command line and the endpoint tell,
// has no secrets in it, and is written as JSON by encoding/json.
type Report struct {
	Backends []BackendReport `json:"backends"` // in the order they were given
}

// A BackendReport is the part of a [Report] about one backend.
type BackendReport struct {
	ID       string    `json:"id"`
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	Target   string    `json:"target"` // what was connected to, without secrets
	Required bool      `json:"required,omitempty"`

	ServerName      string `json:"serverName,omitempty"`
	ServerVersion   string `json:"serverVersion,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`

	// What the server lists is counted, what is left out included.
	Tools             int `json:"tools"`
	Resources         int `json:"resources"`
	ResourceTemplates int `json:"resourceTemplates"`
	Prompts           int `json:"prompts"`

	// Reason says in words why the backend is not ready, with what the server
	// itself said; Remedy what can be done about it, where that is known.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`

	// StaleSince is when the lists stopped being asked for with success; what
	// was listed before is still there, for a while.
	StaleSince time.Time `json:"staleSince,omitzero"`
	// NextTry is when a failed backend is tried again, after Attempts in vain.
	NextTry  time.Time `json:"nextTry,omitzero"`
	Attempts int       `json:"attempts,omitempty"`

	Contradictions []middleware.Contradiction `json:"contradictions,omitempty"`
	// FailedLists are lists that the backend advertises and could not give; it
	// works otherwise, and they are asked for again.
	FailedLists []FailedList `json:"failedLists,omitempty"`
	LeftOut     []LeftOut    `json:"leftOut,omitempty"`
	// PatternsWithoutMatch are those of [Backend.Tools] that no tool of the
	// server matches, as they stand there. They are no degradation.
	PatternsWithoutMatch []string `json:"patternsWithoutMatch,omitempty"`
	// BugReport is a text in Markdown for the server's authors, where the
	// server contradicts itself. It quotes the server: read it before you
	// publish it.
	BugReport string `json:"bugReport,omitempty"`

	// Err is why the backend failed, with its type; nil unless it did.
	Err error `json:"-"`
}

// LeftOut is something that a backend offered and the session does not.
type LeftOut struct {
	Kind   string `json:"kind"` // "tool", "prompt", "resource" or "resource template"
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Backend returns the report about the backend with the ID, and whether there
// is one.
func (r Report) Backend(id string) (BackendReport, bool) {
	for _, backend := range r.Backends {
		if backend.ID == id {
			return backend, true
		}
	}
	return BackendReport{}, false
}

// Failed returns the IDs of the backends that failed.
func (r Report) Failed() []string {
	var failed []string
	for _, backend := range r.Backends {
		if backend.State == Failed {
			failed = append(failed, backend.ID)
		}
	}
	return failed
}

// String returns the report as indented JSON.
func (r Report) String() string {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A FailedList is a list that a backend advertises and could not give, although
// it works otherwise.
type FailedList struct {
	Method mcp.MCPMethod `json:"method"` // such as "resources/templates/list"
	Reason string        `json:"reason"` // what came back, in words
	Remedy string        `json:"remedy,omitempty"`
	Since  time.Time     `json:"since"`
}

// String says what failed and how.
func (f FailedList) String() string { return fmt.Sprintf("%s failed: %s", f.Method, f.Reason) }
