package middleware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGolden compares everything that the default chain writes, measures and
// traces, for every method and every way in which a call can end, over every
// transport, with the files in testdata/golden. UPDATE=1 writes them anew.
// Durations, ports and random ids are left out.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, over := range goldenLinks {
		t.Run(over.name, func(t *testing.T) {
			t.Parallel()
			sections := make([]string, len(goldenOutcomes))
			var running sync.WaitGroup
			for i, outcome := range goldenOutcomes {
				if outcome.over(over) {
					running.Go(func() { sections[i] = goldenSection(t, over, outcome) })
				}
			}
			running.Wait()
			compareGolden(t, over.name, strings.Join(sections, ""))
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "the file has drifted: UPDATE=1 go test -run TestGolden ./middleware_test")
}

// goldenOutcome is one way in which a call can end.
type goldenOutcome struct {
	name   string
	answer func(method string) badserver.Answer
	// bound bounds a call whose answer never comes.
	bound func(context.Context) (context.Context, context.CancelFunc)
	over  func(goldenLink) bool
}

// hanging is long enough for a request to be on its way.
const hanging = 250 * time.Millisecond

func unbounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func timingOut(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, hanging)
}

func cancelledSoon(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(hanging, cancel)
	return ctx, cancel
}

func eachMethod(answer badserver.Answer) func(string) badserver.Answer {
	return func(string) badserver.Answer { return answer }
}

func anyLink(goldenLink) bool { return true }

func failingTool(method string) badserver.Answer {
	if method == string(mcp.MethodToolsCall) {
		return badserver.Result(mcp.NewToolResultError("no such city"))
	}
	return successes[method]
}

func succeeding(method string) badserver.Answer { return successes[method] }

var successes = map[string]badserver.Answer{
	"tools/list":               badserver.Tools("weather"),
	"resources/list":           badserver.Resources("file:///a"),
	"resources/templates/list": badserver.ResourceTemplates("file:///{a}"),
	"prompts/list":             badserver.Prompts("greet"),
	"resources/read":           badserver.Result(map[string]any{"contents": []any{map[string]any{"uri": "file:///a", "text": "a"}}}),
	"prompts/get":              badserver.Result(map[string]any{"messages": []any{}}),
	"tools/call":               badserver.Result(mcp.NewToolResultText("sunny")),
	"completion/complete":      badserver.Result(map[string]any{"completion": map[string]any{"values": []string{"a"}}}),
}

var goldenOutcomes = []goldenOutcome{
	{"success", succeeding, unbounded, anyLink},
	{"tool error", failingTool, unbounded, anyLink},
	{"JSON-RPC error, known code", eachMethod(badserver.Fail(mcp.INVALID_PARAMS, "no such thing")), unbounded, anyLink},
	{"JSON-RPC error, unknown code", eachMethod(badserver.Fail(-32055, "quota exceeded")), unbounded, anyLink},
	{"HTTP failure", eachMethod(badserver.Plain(503, "busy")), unbounded, goldenLink.isHTTP},
	{"time-out", eachMethod(badserver.Answer{Hang: true}), timingOut, anyLink},
	{"cancellation", eachMethod(badserver.Answer{Hang: true}), cancelledSoon, anyLink},
}

// script has the outcome for every method but the handshake's.
func (o goldenOutcome) script(era string) badserver.Script {
	script := badserver.Script{Protocol: era, Session: true, Answers: map[string][]badserver.Answer{}}
	for _, call := range goldenCalls {
		script.Answers[call.method] = []badserver.Answer{o.answer(call.method)}
	}
	return script
}

// goldenCall is one method of the client.
type goldenCall struct {
	method string
	call   func(context.Context, client.MCPClient) error
}

var goldenCalls = []goldenCall{
	{"ping", func(ctx context.Context, c client.MCPClient) error { return c.Ping(ctx) }},
	{"tools/list", listing(tools)},
	{"resources/list", listing(resources)},
	{"resources/templates/list", listing(templates)},
	{"prompts/list", listing(prompts)},
	{"resources/read", func(ctx context.Context, c client.MCPClient) error {
		_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "file:///a"}})
		return err
	}},
	{"resources/subscribe", func(ctx context.Context, c client.MCPClient) error {
		return c.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "file:///a"}})
	}},
	{"resources/unsubscribe", func(ctx context.Context, c client.MCPClient) error {
		return c.Unsubscribe(ctx, mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: "file:///a"}})
	}},
	{"prompts/get", func(ctx context.Context, c client.MCPClient) error {
		_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "greet"}})
		return err
	}},
	{"tools/call", func(ctx context.Context, c client.MCPClient) error {
		_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "weather", Arguments: map[string]any{"city": "hunter2"}}})
		return err
	}},
	{"logging/setLevel", func(ctx context.Context, c client.MCPClient) error {
		return c.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevelInfo}})
	}},
	{"completion/complete", func(ctx context.Context, c client.MCPClient) error {
		_, err := c.Complete(ctx, mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: "greet"}}})
		return err
	}},
}

func listing(l list) func(context.Context, client.MCPClient) error {
	return func(ctx context.Context, c client.MCPClient) error {
		_, err := l.whole(ctx, c)
		return err
	}
}

// goldenSection is all that came of all calls with one outcome over one link.
func goldenSection(t *testing.T, over goldenLink, outcome goldenOutcome) string {
	t.Helper()
	var section bytes.Buffer
	s := newSignals(t)
	ctx := s.caller(t.Context())
	target, stop := over.serve(t, outcome.script(over.era))
	defer stop()
	c, err := connect.To(target, connect.WithProtocolVersion(over.era)).OpenVerifying(ctx, unverified, s.chain())
	if !assert.NoError(t, err) {
		return ""
	}
	fmt.Fprintf(&section, "# %s\n\n## handshake\n%s", outcome.name, s.emitted(t))
	for _, call := range goldenCalls {
		bounded, cancel := outcome.bound(ctx)
		_ = call.call(bounded, c)
		cancel()
		fmt.Fprintf(&section, "\n## %s\n%s", call.method, s.emitted(t))
	}
	assert.NoError(t, c.Close())
	fmt.Fprintf(&section, "\n## close\n%s\n", s.emitted(t))
	return section.String()
}

// goldenLink is a way to a scripted server.
type goldenLink struct {
	name, era string
	serve     func(*testing.T, badserver.Script) (target connect.Target, stop func())
}

func (l goldenLink) isHTTP() bool { return strings.HasPrefix(l.name, "http") }

var goldenLinks = []goldenLink{
	{"http-" + legacy, legacy, serveOver(overHTTP)},
	{"http-" + modern, modern, serveOver(overHTTP)},
	{"stdio-" + legacy, legacy, asProcess},
	{"stdio-" + modern, modern, asProcess},
	{"in-process-" + legacy, legacy, serveOver(inProcessTelling)},
	{"in-process-" + modern, modern, serveOver(inProcessTelling)},
}

func serveOver(reach func(*badserver.Server) (connect.Target, func())) func(*testing.T, badserver.Script) (connect.Target, func()) {
	return func(_ *testing.T, script badserver.Script) (connect.Target, func()) {
		return reach(badserver.New(script))
	}
}

// scriptVariable makes this test binary a server over stdio; see TestMain.
const scriptVariable = "MIDDLEWARE_TEST_SCRIPT"

func asProcess(t *testing.T, script badserver.Script) (connect.Target, func()) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	encoded, err := json.Marshal(script)
	require.NoError(t, err)
	return connect.Stdio{Command: binary, Env: map[string]string{scriptVariable: string(encoded), "GORACE": "atexit_sleep_ms=0"}}, func() {}
}

// serveProcess is the main function of that server.
func serveProcess(encoded string) int {
	script, err := badserver.Load(strings.NewReader(encoded))
	if err != nil {
		return 1
	}
	server := badserver.New(script)
	if server.Serve(context.Background(), os.Stdin, os.Stdout) != nil {
		return 1
	}
	return 0
}
