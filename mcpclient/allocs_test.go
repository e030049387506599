package mcpclient_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
)

// TestACallCostsOneAllocation counts allocations and therefore does not run
// beside other tests.
func TestACallCostsOneAllocation(t *testing.T) {
	for name, test := range map[string]struct {
		middlewares []mcpclient.Middleware
		want        float64
	}{
		"no middleware":                    {nil, 1},
		"three that pass on":               {[]mcpclient.Middleware{pass, pass, pass}, 1},
		"one that has its types from For":  {[]mcpclient.Middleware{mcpclient.For(passTool())}, 2},
		"one that For does not care about": {[]mcpclient.Middleware{mcpclient.For(passPrompt)}, 1},
	} {
		c := mcpclient.Wrap(instant{}, test.middlewares...)
		ctx, request := context.Background(), mcp.CallToolRequest{}
		assert.InDelta(t, test.want, testing.AllocsPerRun(100, func() { _, _ = c.CallTool(ctx, request) }), 0.1, name)
	}
}

// passTool hides from the compiler what the function does, as another package
// would.
//
//go:noinline
func passTool() toolFunc {
	return func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		return next(ctx, request)
	}
}

func passPrompt(ctx context.Context, request *mcp.GetPromptRequest, next mcpclient.Next[mcp.GetPromptRequest, mcp.GetPromptResult]) (*mcp.GetPromptResult, error) {
	return next(ctx, request)
}
