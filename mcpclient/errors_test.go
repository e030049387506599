package mcpclient_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign is a request or a result that belongs to no method.
type foreign struct{}

func (m method) wantRequest() string { return reflect.PointerTo(m.request).String() }

// wantResult is what a ContractError says that the method returns.
func (m method) wantResult() string {
	if m.result == nil {
		return "nil"
	}
	return m.result.String()
}

// typedNil is a nil pointer of the method's result type, in an interface.
func (m method) typedNil() any {
	if m.result == nil {
		return (*foreign)(nil)
	}
	return reflect.Zero(m.result).Interface()
}

func (m method) typedNilText() string {
	if m.result == nil {
		return "a nil *mcpclient_test.foreign"
	}
	return "a nil " + m.result.String()
}

func TestABrokenContractIsAnErrorAndNeverAPanic(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	const op = "a method of client.MCPClient"
	type breach struct {
		name       string
		middleware func(method) mcpclient.Middleware
		want       func(method) error // nil: the call succeeds
	}
	breaches := []breach{
		{
			name:       "a middleware returns neither a result nor an error",
			middleware: func(method) mcpclient.Middleware { return answering(nil, nil) },
			want: func(m method) error {
				if m.result == nil {
					return nil
				}
				return &mcpclient.ContractError{Op: m.name, Part: "result", Want: m.wantResult(), Got: "nil"}
			},
		},
		{
			name:       "a middleware returns a typed nil",
			middleware: func(m method) mcpclient.Middleware { return answering(m.typedNil(), nil) },
			want: func(m method) error {
				return &mcpclient.ContractError{Op: m.name, Part: "result", Want: m.wantResult(), Got: m.typedNilText()}
			},
		},
		{
			name:       "a middleware returns a result of another type",
			middleware: func(method) mcpclient.Middleware { return answering(&foreign{}, nil) },
			want: func(m method) error {
				return &mcpclient.ContractError{Op: m.name, Part: "result", Want: m.wantResult(), Got: "a *mcpclient_test.foreign"}
			},
		},
		{
			name:       "a middleware returns the result by value",
			middleware: func(method) mcpclient.Middleware { return answering(mcp.CallToolResult{}, nil) },
			want: func(m method) error {
				return &mcpclient.ContractError{Op: m.name, Part: "result", Want: m.wantResult(), Got: "a mcp.CallToolResult"}
			},
		},
		{
			name: "a middleware returns a result and an error",
			middleware: func(m method) mcpclient.Middleware {
				if m.result == nil {
					return answering(&foreign{}, failed)
				}
				return answering(m.newResult(), failed)
			},
			want: func(method) error { return failed },
		},
		{
			name: "a middleware passes on no request",
			middleware: func(method) mcpclient.Middleware {
				return changing(func(call *mcpclient.Call) { call.Request = nil })
			},
			want: func(m method) error {
				if m.request == nil {
					return nil
				}
				return &mcpclient.ContractError{Op: m.name, Part: "request", Want: m.wantRequest(), Got: "nil"}
			},
		},
		{
			name: "a middleware passes on a nil request",
			middleware: func(m method) mcpclient.Middleware {
				return changing(func(call *mcpclient.Call) {
					if m.request != nil {
						call.Request = reflect.Zero(reflect.PointerTo(m.request)).Interface()
					}
				})
			},
			want: func(m method) error {
				if m.request == nil {
					return nil
				}
				return &mcpclient.ContractError{Op: m.name, Part: "request", Want: m.wantRequest(), Got: "a nil " + m.wantRequest()}
			},
		},
		{
			name: "a middleware passes on a foreign request",
			middleware: func(method) mcpclient.Middleware {
				return changing(func(call *mcpclient.Call) { call.Request = &foreign{} })
			},
			want: func(m method) error {
				if m.request == nil {
					return nil // Ping and Close take none and look at none
				}
				return &mcpclient.ContractError{Op: m.name, Part: "request", Want: m.wantRequest(), Got: "a *mcpclient_test.foreign"}
			},
		},
		{
			name: "a middleware passes on an unknown operation",
			middleware: func(method) mcpclient.Middleware {
				return changing(func(call *mcpclient.Call) { call.Op = "Teleport" })
			},
			want: func(method) error {
				return &mcpclient.ContractError{Op: "Teleport", Part: "op", Want: op, Got: "an unknown name"}
			},
		},
		{
			name: "a middleware makes no handler",
			middleware: func(method) mcpclient.Middleware {
				return func(mcpclient.Handler) mcpclient.Handler { return nil }
			},
			want: func(m method) error {
				return &mcpclient.ContractError{Op: m.name, Part: "handler", Want: "a handler", Got: "nil"}
			},
		},
	}
	for _, breach := range breaches {
		t.Run(breach.name, func(t *testing.T) {
			t.Parallel()
			for _, m := range methods(t) {
				c := mcpclient.Wrap(&fake{}, pass, breach.middleware(m), pass)
				_, err := m.call(t.Context(), t, c, m.newRequest())
				assert.Equal(t, breach.want(m), err, m.name)
			}
		})
	}
	t.Run("the inner client returns neither a result nor an error", func(t *testing.T) {
		t.Parallel()
		for _, m := range methods(t) {
			inner := &fake{answer: func(context.Context, string, any) (any, error) { return nil, nil }}
			_, err := m.call(t.Context(), t, mcpclient.Wrap(inner, pass), m.newRequest())
			if m.result == nil {
				assert.NoError(t, err, m.name)
				continue
			}
			want := &mcpclient.ContractError{Op: m.name, Part: "result", Want: m.wantResult(), Got: "a nil " + m.wantResult()}
			assert.Equal(t, want, err, m.name)
		}
	})
}

func TestAnotherMethodsRowCannotBeReached(t *testing.T) {
	t.Parallel()
	inner := &fake{}
	c := mcpclient.Wrap(inner, changing(func(call *mcpclient.Call) { call.Op = "GetPrompt" }))

	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{})

	assert.Nil(t, result)
	want := &mcpclient.ContractError{Op: "GetPrompt", Part: "request", Want: "*mcp.GetPromptRequest", Got: "a *mcp.CallToolRequest"}
	assert.Equal(t, want, err)
	assert.Empty(t, inner.calls())
}

func TestAContractErrorNamesTheMethodWhatItWantsAndWhatItGot(t *testing.T) {
	t.Parallel()
	_, err := mcpclient.Wrap(&fake{}, answering(&mcp.GetPromptResult{}, nil)).CallTool(t.Context(), mcp.CallToolRequest{})

	var broken *mcpclient.ContractError
	require.ErrorAs(t, err, &broken)
	assert.EqualError(t, err, "mcpclient: CallTool: a middleware or the inner client gave a *mcp.GetPromptResult as its result, want *mcp.CallToolResult")
}
