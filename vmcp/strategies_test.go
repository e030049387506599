package vmcp_test

import (
	"context"
	"log/slog"
	"path"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scripted(t *testing.T, id string, script badserver.Script) vmcp.Backend {
	t.Helper()
	return vmcp.Backend{ID: id, Connector: connect.To(inProcess(t, badserver.New(script)))}
}

func TestNamesFollowTheStrategy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		names   vmcp.Names
		tools   []string
		leftOut map[string][]string // by backend
	}{
		"prefix":   {vmcp.Prefixed, []string{"a_both", "a_one", "b_both", "b_two words_"}, nil},
		"priority": {vmcp.Priority, []string{"both", "one", "two words_"}, map[string][]string{"b": {"both"}}},
		"none":     {vmcp.Plain, []string{"one", "two words_"}, map[string][]string{"a": {"both"}, "b": {"both"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, name, tt.names.String())
			s := build(t, &vmcp.Builder{Names: tt.names}, scripted(t, "a", callable(onlyTools("one", "both"))), scripted(t, "b", callable(onlyTools("two words", "both"))))
			require.Len(t, s.Tools(), len(tt.tools))
			for i, tool := range s.Tools() {
				assert.LessOrEqual(t, len(tool.Name), 128)
				if want := tt.tools[i]; want[len(want)-1] == '_' { // ends in a hash
					assert.NotContains(t, tool.Name, " ")
				} else {
					assert.Equal(t, want, tool.Name)
				}
				_, err := s.CallTool(t.Context(), callOf(tool.Name))
				require.NoError(t, err, "each name leads to its tool")
			}
			for _, report := range s.Report().Backends {
				var names []string
				for _, item := range report.LeftOut {
					names = append(names, item.Name)
					assert.Contains(t, item.Reason, "would be called the same")
				}
				assert.Equal(t, tt.leftOut[report.ID], names, report.ID)
			}
		})
	}
}

func TestPrioritysFirstBackendHasTheName(t *testing.T) {
	t.Parallel()
	answer := func(text string) badserver.Script {
		script := onlyTools("both")
		script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText(text))}
		return script
	}
	s := build(t, &vmcp.Builder{Names: vmcp.Priority}, scripted(t, "b", answer("first")), scripted(t, "a", answer("second")))
	result, err := s.CallTool(t.Context(), callOf("both"))
	require.NoError(t, err)
	assert.Equal(t, "first", textOf(t, result))
	report := reportOf(t, s.Report(), "a")
	assert.Equal(t, vmcp.Degraded, report.State)
	assert.Equal(t, `the tool "both" of backend b would be called the same; rename one of them`, report.LeftOut[0].Reason)
}

func TestAPrefixStandsInPlaceOfTheID(t *testing.T) {
	t.Parallel()
	one, two := scripted(t, "one", callable(honest())), scripted(t, "two", callable(onlyTools("alpha")))
	one.Prefix, two.Prefix = "same", "same"
	s := build(t, &vmcp.Builder{}, one, two)
	names := toolNames(s)
	require.Len(t, names, 3)
	assert.Contains(t, names, "same_beta")
	assert.NotContains(t, names, "same_alpha", "two would be called so: each gets a hash")
	assert.Equal(t, []string{"same_greet"}, promptNames(s))
	for _, name := range names {
		_, err := s.CallTool(t.Context(), callOf(name))
		require.NoError(t, err)
	}
}

func TestToolsAreSelectedAndRenamed(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	backend, server := links[0].serve(t, "a", callable(onlyTools("list_users", "list_keys", "drop_all", "get_user")))
	backend.Tools = vmcp.ToolSelection{
		Include: []string{"list_*", "get_*", "nothing_*"}, Exclude: []string{"*_keys", "[x]"},
		Rename: map[string]string{"get_user": "user", "gone": "back"},
	}
	s := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)
	assert.Equal(t, []string{"a_list_users", "a_user"}, toolNames(s))
	_, err := s.CallTool(t.Context(), callOf("a_user"))
	require.NoError(t, err)
	requests := server.Requests()
	assert.Contains(t, string(requests[len(requests)-1].Params), `"get_user"`, "the server knows it by its own name")
	var unknown *vmcp.UnknownError
	for _, name := range []string{"a_drop_all", "a_list_keys", "a_get_user"} {
		_, err := s.CallTool(t.Context(), callOf(name))
		require.ErrorAs(t, err, &unknown, name)
	}

	report := reportOf(t, s.Report(), "a")
	assert.Equal(t, vmcp.Ready, report.State, "its operator wants it so")
	assert.Empty(t, report.LeftOut)
	assert.Equal(t, []string{"nothing_*", "[x]", "gone"}, report.PatternsWithoutMatch)
	_, err = s.Refresh(t.Context(), "a")
	require.NoError(t, err)
	var warned []any
	for _, record := range log.At(slog.LevelWarn) {
		assert.Equal(t, "pattern_without_match", record["event"])
		assert.Equal(t, "a", record["backendID"])
		warned = append(warned, record["pattern"])
	}
	assert.Equal(t, []any{"nothing_*", "[x]", "gone"}, warned, "once each")
}

func TestSettingsThatCannotBeUsedAreSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*vmcp.Backend)
		says   string
	}{
		"a pattern":    {func(b *vmcp.Backend) { b.Tools.Include = []string{"[a"} }, `the pattern "[a"`},
		"no pattern":   {func(b *vmcp.Backend) { b.Tools.Exclude = []string{""} }, `the pattern ""`},
		"a new name":   {func(b *vmcp.Backend) { b.Tools.Rename = map[string]string{"a": "no space"} }, `cannot be renamed to "no space"`},
		"the same":     {func(b *vmcp.Backend) { b.Tools.Rename = map[string]string{"a": "c", "b": "c"} }, `both renamed to "c"`},
		"a prefix":     {func(b *vmcp.Backend) { b.Prefix = "no/slash" }, `the prefix "no/slash"`},
		"no header":    {func(b *vmcp.Backend) { b.ForwardHeaders = []string{"no header"} }, `"no header" is not the name`},
		"a hop header": {func(b *vmcp.Backend) { b.ForwardHeaders = []string{"mcp-session-id"} }, "the header Mcp-Session-Id belongs to one connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := scripted(t, "a", honest())
			tt.change(&backend)
			_, err := new(vmcp.Builder).Build(t.Context(), []vmcp.Backend{backend})
			require.ErrorIs(t, err, vmcp.ErrBackends)
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, `"a"`)
		})
	}
	require.ErrorIs(t, vmcp.ToolSelection{Include: []string{"[a"}}.Validate(), path.ErrBadPattern)
}

func TestWhatIsNotToBeForgivenFailsTheBackend(t *testing.T) {
	t.Parallel()
	missing := func(methods ...string) badserver.Script {
		script := honest()
		for _, method := range methods {
			delete(script.Answers, method)
		}
		return script
	}
	for name, tt := range map[string]struct {
		tolerance vmcp.Tolerance
		script    badserver.Script
		state     vmcp.State
	}{
		"resources, by default":      {vmcp.Tolerance{}, missing("resources/list", "resources/templates/list"), vmcp.Degraded},
		"resources":                  {vmcp.Tolerance{StrictResources: true}, missing("resources/list", "resources/templates/list"), vmcp.Failed},
		"templates":                  {vmcp.Tolerance{StrictResources: true}, missing("resources/templates/list"), vmcp.Failed},
		"prompts":                    {vmcp.Tolerance{StrictPrompts: true}, missing("prompts/list"), vmcp.Failed},
		"prompts, strict about else": {vmcp.Tolerance{StrictResources: true}, missing("prompts/list"), vmcp.Degraded},
		"nothing is missing":         {vmcp.Tolerance{StrictResources: true, StrictPrompts: true, StrictUtilities: true}, honest(), vmcp.Ready},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := scripted(t, "a", tt.script)
			backend.Tolerance = tt.tolerance
			s := build(t, &vmcp.Builder{}, backend, scripted(t, "other", honest()))
			report := reportOf(t, s.Report(), "a")
			assert.Equal(t, tt.state, report.State)
			if tt.state == vmcp.Failed {
				assert.ErrorIs(t, report.Err, mcp.ErrMethodNotFound)
				assert.Contains(t, report.Remedy, "tell the server's authors")
			}
		})
	}
}

func TestStrictUtilitiesReachTheCallerAsErrors(t *testing.T) {
	t.Parallel()
	script := with(`{"prompts":{},"completions":{},"logging":{}}`, answers{"prompts/list": {badserver.Prompts("greet")}})
	backend := scripted(t, "a", script)
	backend.Tolerance.StrictUtilities = true
	s := build(t, &vmcp.Builder{}, backend)
	_, err := s.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Name: "a_greet"}}})
	require.ErrorIs(t, err, mcp.ErrMethodNotFound)
	require.ErrorIs(t, s.SetLevel(t.Context(), mcp.LoggingLevelInfo), mcp.ErrMethodNotFound)
}

func TestANameOfABackendThatIsNotThereLeadsToItsReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		names  vmcp.Names
		prefix string
		asked  string
		whose  bool // the name says whose it is
	}{
		"with the ID":           {vmcp.Prefixed, "", "down_run", true},
		"with another prefix":   {vmcp.Prefixed, "other", "other_run", true},
		"with the ID it had":    {vmcp.Prefixed, "other", "down_run", false},
		"without, by priority":  {vmcp.Priority, "", "run", false},
		"without, but no clash": {vmcp.Plain, "", "down_run", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			down := scripted(t, "down", with(`{"tools":{}}`, answers{"tools/list": {databaseDown}}))
			down.Prefix = tt.prefix
			s := build(t, &vmcp.Builder{Names: tt.names}, down, scripted(t, "fine", onlyTools("fine")))
			_, err := s.CallTool(t.Context(), callOf(tt.asked))
			var unavailable *vmcp.UnavailableError
			var unknown *vmcp.UnknownError
			if tt.whose {
				require.ErrorAs(t, err, &unavailable)
				assert.Equal(t, "down", unavailable.Backend.ID)
				return
			}
			require.ErrorAs(t, err, &unknown)
			if tt.names == vmcp.Prefixed {
				assert.Empty(t, unknown.Failed)
				return
			}
			require.Len(t, unknown.Failed, 1)
			assert.Contains(t, err.Error(), "the database is down")
		})
	}
}

// looking is a handler that looks at the session for each WARN.
type looking struct {
	slog.Handler
	at atomic.Pointer[vmcp.Session]
}

func (l *looking) Enabled(context.Context, slog.Level) bool { return true }

func (l *looking) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *looking) Handle(_ context.Context, record slog.Record) error {
	if session := l.at.Load(); session != nil && record.Level == slog.LevelWarn {
		_ = session.Report()
	}
	return nil
}

func TestALogMayLookAtTheSession(t *testing.T) {
	t.Parallel()
	backend := scripted(t, "a", with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools("one").Once(), badserver.Tools("two")}}))
	backend.Tools.Include = []string{"one"}
	log := &looking{Handler: slog.DiscardHandler}
	session := build(t, &vmcp.Builder{Logger: slog.New(log)}, backend)
	log.at.Store(session)
	refreshed := make(chan error, 1)
	go func() {
		_, err := session.Refresh(mcptest.Soon(t), "a")
		refreshed <- err
	}()
	select {
	case err := <-refreshed:
		require.NoError(t, err)
	case <-mcptest.Soon(t).Done():
		require.Fail(t, "the record is written while the backend is locked")
	}
}
