package gateway

import (
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// MissingKey is the key of what is missing, a list of [Missing]: in the _meta of
// a list, in that of the result of a tool that is not there, and in the data of
// an error for something else that is not there.
const MissingKey = "com.github.mcp-candor/missing"

// Missing says what a list lacks: what a backend would contribute.
type Missing struct {
	Backend string     `json:"backend"`
	State   vmcp.State `json:"state"`
	Since   time.Time  `json:"since"`
	Reason  string     `json:"reason"`
	Remedy  string     `json:"remedy,omitempty"`
}

// missingFrom returns what the list that a method asks for lacks.
func missingFrom(report vmcp.Report, method mcp.MCPMethod) []Missing {
	var lacking []Missing
	for _, backend := range report.Backends {
		if lacks(backend, method) {
			lacking = append(lacking, missing(backend))
		}
	}
	return lacking
}

func missing(backend vmcp.BackendReport) Missing {
	return Missing{backend.ID, backend.State, backend.Since, reasonOf(backend), backend.Remedy}
}

// lacks says whether a backend does not contribute all that it should to a list.
func lacks(backend vmcp.BackendReport, method mcp.MCPMethod) bool {
	if backend.State != vmcp.Ready && backend.State != vmcp.Degraded || !backend.StaleSince.IsZero() {
		return true
	}
	for _, contradiction := range backend.Contradictions {
		if contradiction.Method == method {
			return true
		}
	}
	for _, failed := range backend.FailedLists {
		if failed.Method == method {
			return true
		}
	}
	list, _ := capability.Of(method)
	for _, left := range backend.LeftOut {
		if left.Kind == list.Lists {
			return true
		}
	}
	return false
}

func reasonOf(backend vmcp.BackendReport) string {
	if backend.Reason == "" && backend.State == vmcp.Connecting {
		return "it has not answered yet"
	}
	return backend.Reason
}

// sentence says in words how a backend stands.
func sentence(backend vmcp.BackendReport) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Backend %q has been %s since %s", backend.ID, backend.State, backend.Since.UTC().Format(time.RFC3339))
	if reason := reasonOf(backend); reason != "" {
		fmt.Fprintf(&text, ": %s", strings.TrimSuffix(plain.Line(reason, longestReason), "."))
	}
	text.WriteString(".")
	if backend.Remedy != "" {
		fmt.Fprintf(&text, " Remedy: %s.", strings.TrimSuffix(backend.Remedy, "."))
	}
	if !backend.NextTry.IsZero() {
		fmt.Fprintf(&text, " It is tried again at %s.", backend.NextTry.UTC().Format(time.RFC3339))
	}
	return text.String()
}

// longestReason is how many characters of a reason go into a sentence.
const longestReason = 1_000

// toolUnavailable is what the model gets instead of "unknown tool".
func toolUnavailable(err *vmcp.UnavailableError) *mcp.CallToolResult {
	result := mcp.NewToolResultError(fmt.Sprintf("The tool %q cannot be called at the moment. %s", err.Name, sentence(err.Backend)))
	result.Meta = &mcp.Meta{AdditionalFields: map[string]any{MissingKey: []Missing{missing(err.Backend)}}}
	return result
}

// toolLost is what the model gets where no answer came to a call.
func toolLost(name string, err error) *mcp.CallToolResult {
	read, effect := failure.Of(err), "Whether it had an effect is not known."
	if read.NotSent() {
		effect = "It had no effect."
	}
	return mcp.NewToolResultError(fmt.Sprintf("The call of the tool %q failed: %s. %s", name, read.Words(), effect))
}

// unavailable is the same for what is no tool, as an error: results of those
// cannot say that they are none.
func unavailable(err *vmcp.UnavailableError) error {
	return &endpoint.Failure{
		Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf("The %s %q is not there at the moment. %s", err.Kind, err.Name, sentence(err.Backend)),
		Data: map[string]any{MissingKey: []Missing{missing(err.Backend)}},
	}
}
