package vmcp

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/middleware"
)

// Tolerance says what of a backend is not forgiven; the zero value forgives
// what middleware.Tolerance does. With StrictResources or StrictPrompts a
// backend that advertises such lists and does not have them is failed, instead
// of degraded. With StrictUtilities the caller gets the error of a completion
// or a logging level that the backend advertised and does not have.
type Tolerance struct {
	StrictResources, StrictPrompts, StrictUtilities bool

	// DegradeFailures is about lists other than that of the tools: one that
	// fails in another way than by a contradiction degrades the backend
	// instead of failing it.
	DegradeFailures bool
}

// options make it so.
func (t Tolerance) options() []middleware.Option {
	var strict []mcp.MCPMethod
	if t.StrictResources {
		strict = append(strict, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList)
	}
	if t.StrictPrompts {
		strict = append(strict, mcp.MethodPromptsList)
	}
	if t.StrictUtilities {
		strict = append(strict, mcp.MethodCompletionComplete, mcp.MethodSetLogLevel)
	}
	return []middleware.Option{middleware.Strict(strict...)}
}
