package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// behaviour is a kind of middleware, which is made anew for each chain. It
// tells the transcript what it sees.
type behaviour func(m method, tell func(format string, args ...any)) mcpclient.Middleware

// around is a behaviour that does something before, after or instead of the
// next handler.
func around(handle func(ctx context.Context, m method, call mcpclient.Call, next mcpclient.Handler) (any, error)) behaviour {
	return func(m method, tell func(string, ...any)) mcpclient.Middleware {
		return func(next mcpclient.Handler) mcpclient.Handler {
			return func(ctx context.Context, call mcpclient.Call) (any, error) {
				tell("> %s %v", call.Op, ctx.Value(marked{}))
				result, err := handle(ctx, m, call, next)
				tell("< %s %T %v", call.Op, result, err)
				return result, err
			}
		}
	}
}

type marked struct{}

var errRefused = errors.New("refused")

// wellBehaved middlewares keep the contract of a call.
var wellBehaved = map[string]behaviour{
	"passes": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		return next(ctx, call)
	}),
	"refuses": around(func(context.Context, method, mcpclient.Call, mcpclient.Handler) (any, error) {
		return nil, errRefused
	}),
	"answers itself": around(func(_ context.Context, m method, _ mcpclient.Call, _ mcpclient.Handler) (any, error) {
		return m.newResult(), nil
	}),
	"tries twice": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		if _, err := next(ctx, call); err == nil {
			return next(ctx, call)
		}
		return next(ctx, call)
	}),
	"wraps the error": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		result, err := next(ctx, call)
		if err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return result, err
	}),
	"marks the context": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		return next(context.WithValue(ctx, marked{}, "marked"), call)
	}),
	"is nil": func(method, func(string, ...any)) mcpclient.Middleware { return nil },
	"is empty": func(method, func(string, ...any)) mcpclient.Middleware {
		return mcpclient.Chain()
	},
}

// illBehaved middlewares break it, each in its own way.
var illBehaved = map[string]behaviour{
	"drops the result": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		_, err := next(ctx, call)
		return nil, err
	}),
	"drops the error": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		result, _ := next(ctx, call)
		return result, nil //nolint:nilerr // that is the breach
	}),
	"adds an error to the result": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		result, err := next(ctx, call)
		return result, errors.Join(err, errRefused)
	}),
	"returns something foreign": around(func(context.Context, method, mcpclient.Call, mcpclient.Handler) (any, error) {
		return &foreign{}, nil
	}),
	"returns a typed nil": around(func(_ context.Context, m method, _ mcpclient.Call, _ mcpclient.Handler) (any, error) {
		return m.typedNil(), nil
	}),
	"passes on no request": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		call.Request = nil
		return next(ctx, call)
	}),
	"passes on a foreign request": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		call.Request = &foreign{}
		return next(ctx, call)
	}),
	"passes on a foreign operation": around(func(ctx context.Context, _ method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		call.Op = "CallTool"
		return next(ctx, call)
	}),
	"passes on nothing": around(func(ctx context.Context, _ method, _ mcpclient.Call, next mcpclient.Handler) (any, error) {
		return next(ctx, mcpclient.Call{})
	}),
	"passes on the call of nobody": around(func(ctx context.Context, m method, call mcpclient.Call, next mcpclient.Handler) (any, error) {
		return next(ctx, mcpclient.Call{Op: call.Op, Method: call.Method, Request: call.Request})
	}),
	"makes no handler": func(method, func(string, ...any)) mcpclient.Middleware {
		return func(mcpclient.Handler) mcpclient.Handler { return nil }
	},
}

// stack is a list of behaviours, by name.
type stack []string

func someStack(t *rapid.T, kinds ...map[string]behaviour) stack {
	var all []string
	for _, kind := range kinds {
		for name := range kind {
			all = append(all, name)
		}
	}
	// A map has no order, and what rapid draws must not depend on it.
	return rapid.SliceOfN(rapid.SampledFrom(sorted(all)), 0, 6).Draw(t, "middlewares")
}

// make makes the middlewares anew, each telling its own number.
func (s stack) make(m method, transcript *strings.Builder) []mcpclient.Middleware {
	middlewares := make([]mcpclient.Middleware, 0, len(s))
	for i, name := range s {
		b, ok := wellBehaved[name]
		if !ok {
			b = illBehaved[name]
		}
		middlewares = append(middlewares, b(m, func(format string, args ...any) {
			fmt.Fprintf(transcript, "%d %s\n", i, fmt.Sprintf(format, args...))
		}))
	}
	return middlewares
}

// lawful is a server that has an answer, or none.
func lawful(m method, answers bool) *fake {
	return &fake{answer: func(context.Context, string, any) (any, error) {
		if !answers {
			return nil, mcp.ErrInternalError
		}
		return m.newResult(), nil
	}}
}

func someMethod(t *testing.T, rt *rapid.T) method {
	t.Helper()
	return rapid.SampledFrom(methods(t)).Draw(rt, "method")
}

// TestAChainMayBeCutAnywhere: Chain is associative and nil is neutral, whatever
// the middlewares do, be they well-behaved or not.
func TestAChainMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m, s := someMethod(t, rt), someStack(rt, wellBehaved, illBehaved)
		cut := rapid.IntRange(0, len(s)).Draw(rt, "cut")
		answers := rapid.Bool().Draw(rt, "answers")
		var flat, nested strings.Builder
		parts := s.make(m, &nested)

		want, wantErr := m.call(rt.Context(), t, mcpclient.Wrap(lawful(m, answers), s.make(m, &flat)...), m.newRequest())
		got, err := m.call(rt.Context(), t, mcpclient.Wrap(lawful(m, answers), mcpclient.Chain(parts[:cut]...), nil, mcpclient.Chain(mcpclient.Chain(parts[cut:]...))), m.newRequest())

		require.Equal(rt, flat.String(), nested.String())
		require.Equal(rt, want, got)
		require.Equal(rt, wantErr, err)
	})
}

// TestAWrappedClientMayBeWrapped: a chain may be cut into clients, too. The middlewares of the outer client come
// first, as if there were one client with them all.
func TestAWrappedClientMayBeWrapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m, s := someMethod(t, rt), someStack(rt, wellBehaved)
		if m.name == "Close" {
			rt.Skip("it has no context that the outer client could hand to the inner one")
		}
		cut := rapid.IntRange(0, len(s)).Draw(rt, "cut")
		answers := rapid.Bool().Draw(rt, "answers")
		var flat, nested strings.Builder
		parts := s.make(m, &nested)
		var inner client.MCPClient = mcpclient.Wrap(lawful(m, answers), parts[cut:]...)

		want, wantErr := m.call(rt.Context(), t, mcpclient.Wrap(lawful(m, answers), s.make(m, &flat)...), m.newRequest())
		got, err := m.call(rt.Context(), t, mcpclient.Wrap(inner, parts[:cut]...), m.newRequest())

		require.Equal(rt, flat.String(), nested.String())
		require.Equal(rt, want, got)
		require.Equal(rt, wantErr, err)
	})
}

// TestNoChainBreaksTheContractOfACall: whatever the middlewares do together, a
// caller gets a result or an error, never both, neither or a panic; and what
// breaks the contract alone is a ContractError.
func TestNoChainBreaksTheContractOfACall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m, s := someMethod(t, rt), someStack(rt, wellBehaved, illBehaved, illBehaved)
		answers := rapid.Bool().Draw(rt, "answers")
		var transcript strings.Builder
		c := mcpclient.Wrap(lawful(m, answers), s.make(m, &transcript)...)

		result, err := m.call(rt.Context(), t, c, m.newRequest()) // which checks it

		var breach *mcpclient.ContractError
		if len(s) > 0 && (s[0] == "returns something foreign" || s[0] == "returns a typed nil") {
			require.ErrorAs(rt, err, &breach, "nobody makes that good")
		}
		switch {
		case err == nil && m.result != nil:
			require.IsType(rt, m.newResult(), result)
		case err == nil, errors.As(err, &breach):
		default:
			known := errors.Is(err, errRefused) || errors.Is(err, mcp.ErrInternalError)
			require.True(rt, known, "nobody failed so: %v", err)
		}
	})
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
