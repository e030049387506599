package vmcp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// reasonOf leaves the remedy out, which stands beside it.
func reasonOf(err error) string {
	if failed, ok := errors.AsType[*connect.Error](err); ok {
		return failed.Reason()
	}
	return failure.Of(err).Words()
}

// What is said of a backend that has not answered yet.
const (
	notYet    = "it has not answered yet"
	waitForIt = "wait a little: it joins when it answers"
)

const tellTheAuthors = "tell the server's authors: vmcp check prints a report for them"

// keepTheTools is what else can be done about a list that fails its backend.
const keepTheTools = `; or keep what else it has with "tolerance": {"failures": "degrade"}`

func remedyOf(err error) string {
	if isContradiction(err) {
		return tellTheAuthors
	}
	remedy := failure.Of(err).Remedy()
	if list, ok := errors.AsType[*listError](err); ok && list.method != mcp.MethodToolsList && failure.Of(err).Answered() {
		remedy += keepTheTools
	}
	return remedy
}

// degrade gives the reasons for which a backend that serves is not ready.
func (r *BackendReport) degrade(stale error, expired bool, mask func(string) string) {
	reasons := broken(r.Contradictions)
	if len(reasons) > 0 {
		r.Remedy = tellTheAuthors
	}
	if stale != nil {
		old := "its lists are old"
		if expired {
			old = "its lists were too old to keep"
		}
		reasons = append(reasons, old+", as asking for them again failed: "+mask(failure.Of(stale).Words()))
		r.Remedy = remedyOf(stale)
	}
	for _, failed := range r.FailedLists {
		reasons, r.Remedy = append(reasons, failed.String()), cmp.Or(r.Remedy, failed.Remedy)
	}
	if n := len(r.LeftOut); n > 0 {
		first := r.LeftOut[0]
		reasons = append(reasons, fmt.Sprintf("%d left out, such as the %s %q: %s", n, first.Kind, first.Name, first.Reason))
	}
	if len(reasons) > 0 {
		r.State, r.Reason = Degraded, strings.Join(reasons, "; ")
	}
}

// broken says in words what was promised, one clause for each different answer.
func broken(contradictions []middleware.Contradiction) []string {
	var clauses []string
	for len(contradictions) > 0 {
		answer := contradictions[0].Answer()
		var capabilities, methods []string
		contradictions = slices.DeleteFunc(slices.Clone(contradictions), func(c middleware.Contradiction) bool {
			if c.Answer() != answer {
				return false
			}
			capabilities, methods = append(capabilities, c.Capability), append(methods, string(c.Method))
			return true
		})
		clauses = append(clauses, fmt.Sprintf("advertises %s, but answers %s with %s",
			strings.Join(slices.Compact(capabilities), " and "), strings.Join(methods, ", "), answer))
	}
	return clauses
}
