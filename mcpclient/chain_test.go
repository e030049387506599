package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// noting is a middleware that writes down when it is entered and left.
func noting(transcript *strings.Builder, name string) mcpclient.Middleware {
	return func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			fmt.Fprintf(transcript, "%s > %s %s\n", name, call.Op, call.Method)
			result, err := next(ctx, call)
			fmt.Fprintf(transcript, "%s < %s %T %v\n", name, call.Op, result, err)
			return result, err
		}
	}
}

func TestTheFirstMiddlewareIsTheOutermost(t *testing.T) {
	t.Parallel()
	var transcript strings.Builder
	inner := &fake{answer: func(_ context.Context, op string, _ any) (any, error) {
		fmt.Fprintf(&transcript, "  server: %s\n", op)
		switch op {
		case "Initialize":
			return &mcp.InitializeResult{}, nil
		case "ListTools":
			return &mcp.ListToolsResult{}, nil
		case "CallTool":
			return nil, errors.New("no such tool")
		}
		return nil, nil
	}}
	c := mcpclient.Wrap(inner, noting(&transcript, "A"), nil, mcpclient.Chain(noting(&transcript, "B")))

	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	_, err = c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	_, err = c.CallTool(t.Context(), mcp.CallToolRequest{})
	require.EqualError(t, err, "no such tool")
	require.NoError(t, c.Subscribe(t.Context(), mcp.SubscribeRequest{}))
	require.NoError(t, c.Close())

	assert.Equal(t, `A > Initialize initialize
B > Initialize initialize
  server: Initialize
B < Initialize *mcp.InitializeResult <nil>
A < Initialize *mcp.InitializeResult <nil>
A > ListTools tools/list
B > ListTools tools/list
  server: ListTools
B < ListTools *mcp.ListToolsResult <nil>
A < ListTools *mcp.ListToolsResult <nil>
A > CallTool tools/call
B > CallTool tools/call
  server: CallTool
B < CallTool <nil> no such tool
A < CallTool <nil> no such tool
A > Subscribe resources/subscribe
B > Subscribe resources/subscribe
  server: Subscribe
B < Subscribe <nil> <nil>
A < Subscribe <nil> <nil>
A > Close 
B > Close 
  server: Close
B < Close <nil> <nil>
A < Close <nil> <nil>
`, transcript.String())
}

// TestNestedChainsAreFlatOnes cuts a list of middlewares, nil ones among them,
// into chains of chains in every way that rapid thinks of.
func TestNestedChainsAreFlatOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var got, want strings.Builder
		next := 0
		var nest func(depth int) mcpclient.Middleware
		nest = func(depth int) mcpclient.Middleware {
			switch kind := rapid.IntRange(0, 3).Draw(rt, "kind"); {
			case kind == 0:
				return nil
			case kind == 1 || depth == 0:
				next++
				return noting(&got, fmt.Sprint(next))
			default:
				parts := make([]mcpclient.Middleware, rapid.IntRange(0, 4).Draw(rt, "parts"))
				for i := range parts {
					parts[i] = nest(depth - 1)
				}
				return mcpclient.Chain(parts...)
			}
		}
		nested := mcpclient.Wrap(&fake{}, nest(4), nest(4))
		flat := make([]mcpclient.Middleware, next)
		for i := range flat {
			flat[i] = noting(&want, fmt.Sprint(i+1))
		}

		require.NoError(rt, nested.Ping(t.Context()))
		require.NoError(rt, mcpclient.Wrap(&fake{}, flat...).Ping(t.Context()))
		require.Equal(rt, want.String(), got.String())
	})
}

func TestAnEmptyChainIsNeutral(t *testing.T) {
	t.Parallel()
	for name, middlewares := range map[string][]mcpclient.Middleware{
		"no middleware":      nil,
		"nil middlewares":    {nil, nil},
		"empty chains":       {mcpclient.Chain(), mcpclient.Chain(mcpclient.Chain(), nil)},
		"a chain of nothing": {mcpclient.Chain(nil...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := &fake{}
			require.NoError(t, mcpclient.Wrap(inner, middlewares...).Ping(t.Context()))
			assert.Equal(t, []received{{"Ping", nil}}, inner.calls())
		})
	}
}

func TestLaterChangesOfTheSliceHaveNoEffect(t *testing.T) {
	t.Parallel()
	var transcript strings.Builder
	middlewares := []mcpclient.Middleware{noting(&transcript, "A")}
	chain := mcpclient.Chain(middlewares...)
	before := mcpclient.Wrap(&fake{}, middlewares...)
	middlewares[0] = answering(nil, errors.New("changed"))

	require.NoError(t, before.Ping(t.Context()))
	require.NoError(t, mcpclient.Wrap(&fake{}, chain).Ping(t.Context()))
	assert.Equal(t, 2, strings.Count(transcript.String(), "A >"))
}

// counting is a middleware whose closure counts the calls of one client; made
// counts how often it was composed.
func counting(made *int) mcpclient.Middleware {
	return func(next mcpclient.Handler) mcpclient.Handler {
		*made++
		calls := 0
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			calls++
			if _, err := next(ctx, call); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("call %d", calls)
		}
	}
}

func TestTheChainIsComposedOncePerClientAndItsStateIsTheClients(t *testing.T) {
	t.Parallel()
	made := 0
	middleware := counting(&made)
	one, two := mcpclient.Wrap(&fake{}, middleware), mcpclient.Wrap(&fake{}, middleware)

	require.EqualError(t, one.Ping(t.Context()), "call 1")
	require.EqualError(t, one.Ping(t.Context()), "call 2")
	require.EqualError(t, two.Ping(t.Context()), "call 1")
	assert.Equal(t, 2, made)
}

func TestAMiddlewareMayCallTheNextHandlerAsOftenAsItLikes(t *testing.T) {
	t.Parallel()
	for times, want := range map[int][]received{0: nil, 2: {{"Ping", nil}, {"Ping", nil}}} {
		inner := &fake{}
		c := mcpclient.Wrap(inner, func(next mcpclient.Handler) mcpclient.Handler {
			return func(ctx context.Context, call mcpclient.Call) (any, error) {
				for range times {
					if result, err := next(ctx, call); err != nil {
						return result, err
					}
				}
				return nil, nil
			}
		})
		require.NoError(t, c.Ping(t.Context()))
		assert.Equal(t, want, inner.calls())
	}
}
