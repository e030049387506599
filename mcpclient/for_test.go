package mcpclient_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	nextTool = mcpclient.Next[mcp.CallToolRequest, mcp.CallToolResult]
	toolFunc = func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error)
)

// callEcho sends one CallTool through a middleware that For makes of handle,
// between the others.
func callEcho(t *testing.T, inner *fake, handle toolFunc, inside ...mcpclient.Middleware) (*mcp.CallToolResult, error) {
	t.Helper()
	c := mcpclient.Wrap(inner, mcpclient.For(handle), mcpclient.Chain(inside...))
	return c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}})
}

func TestForGivesAMiddlewareItsTypesBack(t *testing.T) {
	t.Parallel()
	want, changed := mcp.NewToolResultText("from the server"), mcp.NewToolResultText("changed")
	inner := &fake{answer: func(context.Context, string, any) (any, error) { return want, nil }}
	got, err := callEcho(t, inner, func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		assert.Equal(t, "echo", request.Params.Name)
		result, err := next(ctx, request)
		assert.Same(t, want, result)
		assert.NoError(t, err)
		return changed, err
	})
	require.NoError(t, err)
	assert.Same(t, changed, got)
	assert.Len(t, inner.calls(), 1)
}

func TestForLetsEveryOtherCallPass(t *testing.T) {
	t.Parallel()
	for _, m := range methods(t) {
		handled := 0
		inner := &fake{}
		c := mcpclient.Wrap(inner, mcpclient.For(func(ctx context.Context, request *mcp.ListToolsRequest,
			next mcpclient.Next[mcp.ListToolsRequest, mcp.ListToolsResult],
		) (*mcp.ListToolsResult, error) {
			handled++
			return next(ctx, request)
		}))
		request := m.newRequest()
		_, err := m.call(t.Context(), t, c, request)
		require.NoError(t, err)
		assert.Equal(t, []received{{m.name, request}}, inner.calls())
		assert.Equal(t, m.name == "ListTools" || m.name == "ListToolsByPage", handled == 1, "%s was handled %d times", m.name, handled)
	}
}

func TestForMayCallNextAsOftenAsItLikes(t *testing.T) {
	t.Parallel()
	t.Run("not at all", func(t *testing.T) {
		t.Parallel()
		want, inner := &mcp.CallToolResult{}, &fake{}
		got, err := callEcho(t, inner, func(context.Context, *mcp.CallToolRequest, nextTool) (*mcp.CallToolResult, error) {
			return want, nil
		})
		require.NoError(t, err)
		assert.Same(t, want, got)
		assert.Empty(t, inner.calls())
	})
	t.Run("twice, the second time with a copy", func(t *testing.T) {
		t.Parallel()
		inner := &fake{}
		_, err := callEcho(t, inner, func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
			if _, err := next(ctx, request); err != nil {
				return nil, err
			}
			again := *request
			again.Params.Name = "again"
			return next(ctx, &again)
		})
		require.NoError(t, err)
		require.Len(t, inner.calls(), 2)
		assert.Equal(t, "echo", inner.calls()[0].Request.(mcp.CallToolRequest).Params.Name)
		assert.Equal(t, "again", inner.calls()[1].Request.(mcp.CallToolRequest).Params.Name)
	})
}

func TestForKeepsErrors(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	inner := &fake{answer: func(context.Context, string, any) (any, error) { return &mcp.CallToolResult{}, failed }}
	_, err := callEcho(t, inner, func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		result, err := next(ctx, request)
		assert.Nil(t, result)
		assert.Same(t, failed, err)
		return &mcp.CallToolResult{}, err
	})
	assert.Same(t, failed, err)
}

func TestForTurnsABrokenContractIntoAnError(t *testing.T) {
	t.Parallel()
	passing := func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		result, err := next(ctx, request)
		assert.Nil(t, result)
		return result, err
	}
	result := func(got string) error {
		return &mcpclient.ContractError{Op: "CallTool", Part: "result", Want: "*mcp.CallToolResult", Got: got}
	}
	request := func(got string) error {
		return &mcpclient.ContractError{Op: "CallTool", Part: "request", Want: "*mcp.CallToolRequest", Got: got}
	}
	tests := map[string]struct {
		handle toolFunc
		inside mcpclient.Middleware
		want   error
	}{
		"the next handler returns nothing": {passing, answering(nil, nil), result("nil")},
		"the next handler returns a typed nil": {
			passing, answering((*mcp.CallToolResult)(nil), nil), result("a nil *mcp.CallToolResult"),
		},
		"the next handler returns another type": {passing, answering(&mcp.GetPromptResult{}, nil), result("a *mcp.GetPromptResult")},
		"it returns nothing itself": {
			func(context.Context, *mcp.CallToolRequest, nextTool) (*mcp.CallToolResult, error) { return nil, nil },
			nil, result("a nil *mcp.CallToolResult"),
		},
		"it passes on a nil request": {
			func(ctx context.Context, _ *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
				return next(ctx, nil)
			},
			nil, request("a nil *mcp.CallToolRequest"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middleware := mcpclient.For(test.handle)
			var outside error // what the middlewares outside of it see
			c := mcpclient.Wrap(&fake{}, func(next mcpclient.Handler) mcpclient.Handler {
				return func(ctx context.Context, call mcpclient.Call) (any, error) {
					result, err := next(ctx, call)
					outside = err
					return result, err
				}
			}, middleware, test.inside)
			_, err := c.CallTool(t.Context(), mcp.CallToolRequest{})
			assert.Equal(t, test.want, err)
			assert.Equal(t, test.want, outside)
		})
	}
}

func TestForIsNotAskedAboutANilRequest(t *testing.T) {
	t.Parallel()
	handle := func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		assert.NotEmpty(t, request.Params.Name)
		return next(ctx, request)
	}
	c := mcpclient.Wrap(&fake{}, changing(func(call *mcpclient.Call) { call.Request = (*mcp.CallToolRequest)(nil) }), mcpclient.For(handle))

	_, err := c.CallTool(t.Context(), mcp.CallToolRequest{})

	want := &mcpclient.ContractError{Op: "CallTool", Part: "request", Want: "*mcp.CallToolRequest", Got: "a nil *mcp.CallToolRequest"}
	assert.Equal(t, want, err)
}

func TestForMayCallNextOnSeveralGoroutinesAtOnce(t *testing.T) {
	t.Parallel()
	inner := &fake{}
	_, err := callEcho(t, inner, func(ctx context.Context, request *mcp.CallToolRequest, next nextTool) (*mcp.CallToolResult, error) {
		answers := make(chan error, 1)
		go func() {
			hedged := *request
			_, err := next(ctx, &hedged)
			answers <- err
		}()
		result, err := next(ctx, request)
		return result, errors.Join(err, <-answers)
	})
	require.NoError(t, err)
	assert.Len(t, inner.calls(), 2)
}

// forNothing makes a middleware for a pair of types and never runs it.
func forNothing[Req, Res any]() {
	mcpclient.For(func(context.Context, *Req, mcpclient.Next[Req, Res]) (*Res, error) { return nil, nil })
}

func TestForRefusesAPairThatNoMethodHas(t *testing.T) {
	t.Parallel()
	for wrong, test := range map[string]struct {
		make  func()
		meant string
	}{
		"mcp.CallToolParams, mcp.CallToolResult":       {forNothing[mcp.CallToolParams, mcp.CallToolResult], "CallTool has For[mcp.CallToolRequest, mcp.CallToolResult]"},
		"*mcp.CallToolRequest, *mcp.CallToolResult":    {forNothing[*mcp.CallToolRequest, *mcp.CallToolResult], "CallTool has For[mcp.CallToolRequest, mcp.CallToolResult]"},
		"mcp.GetPromptRequest, mcp.Prompt":             {forNothing[mcp.GetPromptRequest, mcp.Prompt], "GetPrompt has For[mcp.GetPromptRequest, mcp.GetPromptResult]"},
		"mcp.ReadResourceParams, mcp.ResourceContents": {forNothing[mcp.ReadResourceParams, mcp.ResourceContents], "ReadResource has For[mcp.ReadResourceRequest, mcp.ReadResourceResult]"},
		"mcp.CallToolRequest, mcp.ListToolsResult":     {forNothing[mcp.CallToolRequest, mcp.ListToolsResult], "CallTool has For[mcp.CallToolRequest, mcp.CallToolResult]"},
		"mcp.SubscribeRequest, mcp.EmptyResult": {
			forNothing[mcp.SubscribeRequest, mcp.EmptyResult],
			"Subscribe takes a mcp.SubscribeRequest and has no result: write a Middleware that looks at Call.Op",
		},
	} {
		want := "mcpclient: For[" + wrong + "]: no method has this pair; " + test.meant
		assert.PanicsWithValue(t, want, test.make)
	}
	assert.Panics(t, forNothing[string, int])
}

func TestForTakesThePairOfEachMethodThatHasAResult(t *testing.T) {
	t.Parallel()
	for _, construct := range []func(){
		forNothing[mcp.InitializeRequest, mcp.InitializeResult],
		forNothing[mcp.ListResourcesRequest, mcp.ListResourcesResult],
		forNothing[mcp.ListResourceTemplatesRequest, mcp.ListResourceTemplatesResult],
		forNothing[mcp.ReadResourceRequest, mcp.ReadResourceResult],
		forNothing[mcp.ListPromptsRequest, mcp.ListPromptsResult],
		forNothing[mcp.GetPromptRequest, mcp.GetPromptResult],
		forNothing[mcp.ListToolsRequest, mcp.ListToolsResult],
		forNothing[mcp.CallToolRequest, mcp.CallToolResult],
		forNothing[mcp.CompleteRequest, mcp.CompleteResult],
	} {
		assert.NotPanics(t, construct)
	}
}
