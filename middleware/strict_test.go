package middleware_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNothingIsForgivenOfAStrictMethod(t *testing.T) {
	t.Parallel()
	lists := map[mcp.MCPMethod]func(context.Context, *mcpclient.Client) error{
		mcp.MethodResourcesList: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ListResourcesByPage(ctx, mcp.ListResourcesRequest{})
			return err
		},
		mcp.MethodResourcesTemplatesList: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ListResourceTemplatesByPage(ctx, mcp.ListResourceTemplatesRequest{})
			return err
		},
		mcp.MethodPromptsList: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ListPromptsByPage(ctx, mcp.ListPromptsRequest{})
			return err
		},
	}
	for method, list := range lists {
		for other := range lists {
			var log mcptest.Journal
			option, all := told()
			err := list(t.Context(), tolerant(t, &log, always(nil, errUnknownMethod), middleware.Strict(method), option))
			var contradiction *middleware.ContradictionError
			require.ErrorAs(t, err, &contradiction, method)
			require.ErrorIs(t, err, mcp.ErrMethodNotFound)
			assert.Len(t, *all, 1, "it is told all the same")
			if other != method {
				assert.NoError(t, list(t.Context(), tolerant(t, &log, always(nil, errUnknownMethod), middleware.Strict(other))), "%s is strict, %s is not", other, method)
			}
		}
	}
	var log mcptest.Journal
	err := lists[mcp.MethodPromptsList](t.Context(), tolerant(t, &log, always(&mcp.ListPromptsResult{}, nil), middleware.Strict(mcp.MethodPromptsList)))
	require.ErrorIs(t, err, middleware.ErrMalformedList, "nor is a list that is none")
}

func TestAStrictUtilityFailsInSpiteOfWithUtilities(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	c := tolerant(t, &log, always(nil, errUnknownMethod), middleware.WithUtilities(), middleware.Strict(mcp.MethodCompletionComplete), middleware.Strict(mcp.MethodSetLogLevel))
	_, err := c.Complete(t.Context(), mcp.CompleteRequest{})
	assert.Same(t, errUnknownMethod, err)
	assert.Same(t, errUnknownMethod, c.SetLevel(t.Context(), mcp.SetLevelRequest{}))
	c = tolerant(t, &log, always(nil, errUnknownMethod), middleware.WithUtilities(), middleware.Strict(mcp.MethodCompletionComplete))
	assert.NoError(t, c.SetLevel(t.Context(), mcp.SetLevelRequest{}), "the other one stays forgiven")
}
