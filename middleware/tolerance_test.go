package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is an option and what it was told.
func told() (middleware.Option, *[]middleware.Contradiction) {
	var all []middleware.Contradiction
	return middleware.OnContradiction(func(_ context.Context, c middleware.Contradiction) { all = append(all, c) }), &all
}

// tolerant is a client whose server answers all alike, behind Tolerance alone.
func tolerant(t *testing.T, log *mcptest.Journal, a answer, opts ...middleware.Option) *mcpclient.Client {
	t.Helper()
	return connect(t, newServer(t, everything), a, middleware.Tolerance(log.Logger(), nil, opts...))
}

func TestUtilitiesAreForgivenOnlyOnDemand(t *testing.T) {
	t.Parallel()
	complete := func(ctx context.Context, c *mcpclient.Client) (any, error) {
		result, err := c.Complete(ctx, mcp.CompleteRequest{})
		if err != nil {
			return nil, err
		}
		return result, nil
	}
	setLevel := func(ctx context.Context, c *mcpclient.Client) (any, error) {
		return nil, c.SetLevel(ctx, mcp.SetLevelRequest{})
	}
	tests := map[string]struct {
		call       func(context.Context, *mcpclient.Client) (any, error)
		capability string
		without    string // the capabilities without this one
		result     any
	}{
		"completion/complete": {
			complete, "completions", `{"tools":{},"resources":{},"prompts":{},"logging":{}}`,
			&mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}},
		},
		"logging/setLevel": {setLevel, "logging", `{"tools":{},"resources":{},"prompts":{},"completions":{}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal

			_, err := test.call(t.Context(), tolerant(t, &log, always(nil, errUnknownMethod)))
			assert.Same(t, errUnknownMethod, err, "by default")

			option, told := told()
			result, err := test.call(t.Context(), tolerant(t, &log, always(nil, errUnknownMethod), middleware.WithUtilities(), option))
			require.NoError(t, err, "on demand")
			assert.Equal(t, test.result, result)
			assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction))
			require.Len(t, *told, 1)
			assert.Equal(t, test.capability, (*told)[0].Capability)
			assert.Equal(t, mcp.MCPMethod(name), (*told)[0].Method)

			other := (&mcp.JSONRPCErrorDetails{Code: -32603, Message: "Method not found"}).AsError()
			_, err = test.call(t.Context(), tolerant(t, &log, always(nil, other), middleware.WithUtilities()))
			assert.Same(t, other, err, "another code")

			c := connect(t, newServer(t, test.without), always(nil, errUnknownMethod), middleware.Tolerance(log.Logger(), nil, middleware.WithUtilities()))
			_, err = test.call(t.Context(), c)
			assert.Same(t, errUnknownMethod, err, "not advertised")
			assert.Empty(t, log.Take())
		})
	}
}

func TestNoOtherMethodIsEverForgiven(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	c := tolerant(t, &log, always(nil, errUnknownMethod), middleware.WithUtilities())
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"resources/subscribe":   func() error { return c.Subscribe(ctx, mcp.SubscribeRequest{}) },
		"resources/unsubscribe": func() error { return c.Unsubscribe(ctx, mcp.UnsubscribeRequest{}) },
		"resources/read":        func() error { return readResource(ctx, c) },
		"prompts/get":           func() error { return getPrompt(ctx, c) },
		"tools/call":            func() error { return callTool(ctx, c) },
		"ping":                  func() error { return c.Ping(ctx) },
	} {
		assert.Same(t, errUnknownMethod, call(), name)
	}
	assert.Empty(t, log.Take())
}

func TestEveryContradictionIsTold(t *testing.T) {
	t.Parallel()
	c := middleware.Contradiction{ServerName: "acme", ServerVersion: "1.2.3", ProtocolVersion: "2025-06-18"}
	broken := func(capability string, method mcp.MCPMethod) middleware.Contradiction {
		c := c
		c.Event, c.Capability, c.Method, c.Code, c.Message = "capability_contradiction", capability, method, -32601, "Unknown method"
		return c
	}
	malformed := func(capability string, method mcp.MCPMethod) middleware.Contradiction {
		c := c
		c.Event, c.Capability, c.Method, c.Message = "malformed_list", capability, method, "the result has no list"
		return c
	}
	want := []middleware.Contradiction{
		broken("tools", "tools/list"), broken("resources", "resources/list"),
		broken("resources", "resources/templates/list"), broken("prompts", "prompts/list"),
		malformed("tools", "tools/list"), malformed("resources", "resources/list"),
		malformed("resources", "resources/templates/list"), malformed("prompts", "prompts/list"),
	}
	var log mcptest.Journal
	var err error
	answers := func(_ context.Context, call mcpclient.Call) (any, error) {
		if err != nil {
			return nil, err
		}
		return map[mcp.MCPMethod]any{
			"tools/list": &mcp.ListToolsResult{}, "resources/list": &mcp.ListResourcesResult{},
			"resources/templates/list": &mcp.ListResourceTemplatesResult{}, "prompts/list": &mcp.ListPromptsResult{},
		}[call.Method], nil
	}
	option, told := told()
	client := tolerant(t, &log, answers, option)
	for range 2 { // only the first time
		for _, err = range []error{errUnknownMethod, nil} {
			_, _ = client.ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
			_, _ = client.ListResourcesByPage(t.Context(), mcp.ListResourcesRequest{})
			_, _ = client.ListResourceTemplatesByPage(t.Context(), mcp.ListResourceTemplatesRequest{})
			_, _ = client.ListPromptsByPage(t.Context(), mcp.ListPromptsRequest{})
		}
	}
	assert.Equal(t, append(want, want...), *told, "repeats included")
	assert.Len(t, log.Take(), 2*len(want))
}

func TestNilOptionsOfToleranceKeepTheDefaults(t *testing.T) {
	t.Parallel()
	c := connect(t, newServer(t, everything), always(nil, errUnknownMethod), middleware.Tolerance(nil, nil, nil, middleware.OnContradiction(nil)))
	result, err := c.ListPromptsByPage(t.Context(), mcp.ListPromptsRequest{})
	require.NoError(t, err)
	assert.Equal(t, &mcp.ListPromptsResult{Prompts: []mcp.Prompt{}}, result)
}

func TestAnythingBesidesTheListOfAMalformedResultIsKept(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	answered := &mcp.ListPromptsResult{PaginatedResult: mcp.PaginatedResult{NextCursor: "2"}}
	answered.Meta = &mcp.Meta{AdditionalFields: map[string]any{"k": "v"}}
	result, err := tolerant(t, &log, always(answered, nil)).ListPromptsByPage(t.Context(), mcp.ListPromptsRequest{})
	require.NoError(t, err)
	assert.NotNil(t, result.Prompts)
	assert.Empty(t, result.Prompts)
	assert.Equal(t, mcp.Cursor("2"), result.NextCursor)
	assert.Same(t, answered.Meta, result.Meta)
	assert.Nil(t, answered.Prompts, "the result that was handed up")
}

func TestToleranceTurnsABrokenContractIntoAnErrorAndNeverAPanic(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]any{"nothing": nil, "a typed nil": (*mcp.ListToolsResult)(nil), "another result": &mcp.ListPromptsResult{}} {
		var log mcptest.Journal
		_, err := tolerant(t, &log, always(result, nil)).ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
		var broken *mcpclient.ContractError
		require.ErrorAs(t, err, &broken, name)
		assert.Equal(t, "result", broken.Part)
		assert.Empty(t, log.Take())
	}
}

// script answers one call after the other.
type script struct {
	steps []any // a result or an error
	ops   []string
}

func (s *script) answer(_ context.Context, call mcpclient.Call) (any, error) {
	s.ops = append(s.ops, call.Op)
	step := s.steps[0]
	s.steps = s.steps[1:]
	if err, failed := step.(error); failed {
		return nil, err
	}
	return step, nil
}

func TestWithoutPagesTheFirstPageTellsTheCasesApart(t *testing.T) {
	t.Parallel()
	list := func(t *testing.T, s *script) (journal *mcptest.Journal, all *mcp.ListToolsResult, err error) {
		t.Helper()
		journal = &mcptest.Journal{}
		all, err = tolerant(t, journal, s.answer).ListTools(t.Context(), mcp.ListToolsRequest{})
		assert.Empty(t, s.steps, "every step was asked for")
		return journal, all, err
	}
	t.Run("the first page is missing too: a contradiction", func(t *testing.T) {
		t.Parallel()
		s := &script{steps: []any{errUnknownMethod, errUnknownMethod}}
		log, _, err := list(t, s)
		var broken *middleware.ContradictionError
		require.ErrorAs(t, err, &broken)
		require.ErrorIs(t, err, mcp.ErrMethodNotFound)
		assert.Equal(t, []string{"ListTools", "ListToolsByPage"}, s.ops)
		assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction))
	})
	t.Run("the first page is there: an error that carries it", func(t *testing.T) {
		t.Parallel()
		s := &script{steps: []any{errUnknownMethod, tools("2", "a")}}
		log, _, err := list(t, s)
		partial(t, err, mcp.ErrMethodNotFound, 1, "2", "a")
		assert.Equal(t, []string{"ListTools", "ListToolsByPage"}, s.ops)
		assert.Empty(t, log.Take())
	})
	t.Run("the first page fails otherwise: both errors", func(t *testing.T) {
		t.Parallel()
		failed := errors.New("failed")
		s := &script{steps: []any{errUnknownMethod, failed}}
		log, _, err := list(t, s)
		require.ErrorIs(t, err, failed)
		require.ErrorIs(t, err, mcp.ErrMethodNotFound)
		var broken *middleware.ContradictionError
		assert.NotErrorAs(t, err, &broken)
		assert.Empty(t, log.Take())
	})
	t.Run("the first page is none: both errors", func(t *testing.T) {
		t.Parallel()
		s := &script{steps: []any{errUnknownMethod, &mcp.ListPromptsResult{}}}
		_, _, err := list(t, s)
		var broken *mcpclient.ContractError
		require.ErrorAs(t, err, &broken)
		require.ErrorIs(t, err, mcp.ErrMethodNotFound)
	})
	t.Run("any other failure asks for nothing more", func(t *testing.T) {
		t.Parallel()
		failed := errors.New("failed")
		s := &script{steps: []any{failed}}
		_, _, err := list(t, s)
		assert.Same(t, failed, err)
	})
	t.Run("a success asks for nothing more", func(t *testing.T) {
		t.Parallel()
		s := &script{steps: []any{tools("", "a")}}
		_, all, err := list(t, s)
		require.NoError(t, err)
		assert.Equal(t, tools("", "a"), all)
	})
}

// TestWhatWasJudgedIsNotJudgedAgain has a Tolerance outside of another one and
// one outside of Pages: the outer one must neither ask nor speak again.
func TestWhatWasJudgedIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	t.Run("a contradiction", func(t *testing.T) {
		t.Parallel()
		log, s := &mcptest.Journal{}, &script{steps: []any{errUnknownMethod, errUnknownMethod}}
		c := connect(t, newServer(t, everything), s.answer, middleware.Tolerance(log.Logger(), nil), middleware.Tolerance(log.Logger(), nil))
		_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		var broken *middleware.ContradictionError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, "Unknown method", broken.Message)
		assert.Same(t, errUnknownMethod, broken.Err)
		assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction))
	})
	t.Run("a list that ended early", func(t *testing.T) {
		t.Parallel()
		log, b := &mcptest.Journal{}, &book{pages: map[mcp.Cursor]any{"": tools("2", "a"), "2": tools("3", "b"), "3": errUnknownMethod}}
		c := connect(t, newServer(t, everything), b.answer, middleware.Tolerance(log.Logger(), nil), middleware.Pages())
		_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		partial(t, err, mcp.ErrMethodNotFound, 2, "3", "a", "b")
		assert.Equal(t, []mcp.Cursor{"", "2", "3"}, b.asked)
		assert.Empty(t, log.Take())
	})
}

func TestAContradictionSaysWhatWasPromisedAndWhatWasDone(t *testing.T) {
	t.Parallel()
	broken := middleware.Contradiction{Event: events.Contradiction, Capability: "prompts", Method: "prompts/list", Code: -32601, Message: "Unknown method"}
	assert.Equal(t, `advertises prompts, but answers prompts/list with -32601 "Unknown method"`, broken.String())
	malformed := middleware.Contradiction{Event: events.MalformedList, Capability: "tools", Method: "tools/list"}
	assert.Equal(t, "answers tools/list with a result without a list", malformed.String())
	err := &middleware.ContradictionError{Contradiction: broken, Err: errUnknownMethod}
	assert.EqualError(t, err, `the server advertises prompts, but answers prompts/list with -32601 "Unknown method"`)
	assert.ErrorIs(t, err, mcp.ErrMethodNotFound)
}

// TestToleranceIsSilentAboutWhatIsFine also shows that a result is passed on
// as it came.
func TestToleranceIsSilentAboutWhatIsFine(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]any{"an empty list": tools(""), "a page": tools("2", "a")} {
		var log mcptest.Journal
		got, err := tolerant(t, &log, always(result, nil)).ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
		require.NoError(t, err, name)
		assert.Same(t, result, got, name)
		assert.Empty(t, log.Take(), name)
	}
}

func TestDefaultIsFourMiddlewaresAndTakesEveryOption(t *testing.T) {
	t.Parallel()
	log, m := &mcptest.Journal{}, mcptest.NewMeter(t)
	option, told := told()
	c := connect(t, newServer(t, everything), always(nil, errUnknownMethod), middleware.Default(log.Logger(), m, option, nil,
		middleware.WithUtilities(), middleware.WithPageLimits(middleware.PageLimits{Pages: 1}),
		middleware.WithLevel(func(instrument.Outcome) slog.Level { return slog.LevelDebug })))
	_, err := c.Complete(t.Context(), mcp.CompleteRequest{})
	require.NoError(t, err)
	assert.Len(t, *told, 1)
	assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction))
}

// A transport may see what mcp-go would hide: package connect does for
// tools/list on protocol 2026-07-28.
func TestAMalformedListThatTheTransportSawIsAContradiction(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	seen := fmt.Errorf("transport: %w", mcpclient.ErrMalformedList)
	c := tolerant(t, &log, always(nil, seen))
	_, err := c.ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
	var contradiction *middleware.ContradictionError
	require.ErrorAs(t, err, &contradiction)
	require.ErrorIs(t, err, middleware.ErrMalformedList)
	assert.Equal(t, events.MalformedList, contradiction.Event)
	assert.Len(t, log.Take(), 1)
}

// TestAContradictionHasTheFieldsThatItsEventNames compares what is written with
// what is documented.
func TestAContradictionHasTheFieldsThatItsEventNames(t *testing.T) {
	t.Parallel()
	log := &mcptest.Journal{}
	c := tolerant(t, log, always(nil, errUnknownMethod))
	_, err := c.ListPromptsByPage(t.Context(), promptsRequest)
	require.NoError(t, err)
	record := log.Only(t)
	for _, name := range []string{"level", "msg", "event"} {
		assert.Contains(t, record, name)
		delete(record, name)
	}
	require.Equal(t, events.Contradiction, events.All[0].Name)
	for _, field := range events.All[0].Fields {
		assert.Contains(t, record, field)
		delete(record, field)
	}
	assert.Empty(t, record, "fields that are not documented")
}
