package vmcp

import (
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// Tolerance says what of a backend is forgiven and what is not; the zero value
// forgives what middleware.Tolerance does. With StrictResources or StrictPrompts a
// backend that advertises such lists and does not have them is failed, instead
// of degraded. With StrictUtilities the caller gets the error of a completion
// or a logging level that the backend advertised and does not have.
type Tolerance struct {
	StrictResources, StrictPrompts, StrictUtilities bool
	// DegradeFailures keeps a backend whose list of resources or prompts fails in
	// any other way, as that of a database that is away: it is degraded, and what
	// it lists otherwise stays. Without it the backend is failed. The templates of
	// resources degrade it in any case, and the tools never.
	DegradeFailures bool
}

// options make it so.
func (t Tolerance) options() []middleware.Option {
	var strict []mcp.MCPMethod
	for _, method := range capability.Methods {
		if t.isStrict(method) {
			strict = append(strict, method.Name)
		}
	}
	return []middleware.Option{middleware.Strict(strict...)}
}

func (t Tolerance) isStrict(method capability.Method) bool {
	switch {
	case method.Missing == capability.Utility:
		return t.StrictUtilities
	case method.Missing != capability.Forgiven:
		return false
	case method.Of == capability.Resources:
		return t.StrictResources
	default:
		return t.StrictPrompts
	}
}

// degrades says whether the failure of a list only degrades the backend. It must
// be the server's word about this list, and no contradiction that is not to be
// forgiven.
func (t Tolerance) degrades(list mcp.MCPMethod, err error) bool {
	switch {
	case isContradiction(err):
		return false
	case list != mcp.MethodResourcesTemplatesList && (list == mcp.MethodToolsList || !t.DegradeFailures):
		return false
	default:
		read := failure.Of(err)
		return read.Kind == failure.Failing || read.Answered() && read.Consequence() == failure.Keep
	}
}

// isContradiction says whether an error is a broken promise that is not forgiven.
func isContradiction(err error) bool {
	_, ok := errors.AsType[*middleware.ContradictionError](err)
	return ok
}
