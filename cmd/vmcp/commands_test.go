package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcome is what a run of the command did.
type outcome struct {
	status   int
	out, err string
}

func vmcpWith(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	status := run(t.Context(), args, streams{strings.NewReader(""), &out, &err})
	return outcome{status, out.String(), err.String()}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// remote writes a configuration with one server, a badserver over HTTP.
func remote(t *testing.T, script badserver.Script) string {
	t.Helper()
	server := newLoopback(t, badserver.New(script))
	return write(t, "servers.json", `{"mcpServers": {"bad": {"url": "`+server+`"}}}`)
}

// newLoopback serves a handler until the test ends, without net/http/httptest's
// wait for connections that a client holds open.
func newLoopback(t *testing.T, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		assert.NoError(t, server.Close())
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return "http://" + listener.Addr().String() + "/mcp"
}

func TestToolsWithoutAConfigurationShowsTheEmbeddedServers(t *testing.T) {
	got := vmcpWith(t, "tools")
	assert.Equal(t, statusOK, got.status)
	assert.Equal(t, `BACKEND   STATE     TOOLS  RESOURCES  TEMPLATES  PROMPTS  REASON
honest    ready     1      1          0          1        -
boastful  degraded  1      0          0          0        advertises prompts and resources, but answers prompts/list, resources/list, resources/templates/list with -32601 "Method not found"

boastful: tell the server's authors: vmcp check prints a report for them

TOOL           DESCRIPTION
boastful_brag  Says what it has.
honest_echo    Repeats the message.
`, got.out)
	assert.Equal(t, 3, strings.Count(got.err, `"event":"capability_contradiction"`), "one WARN for each list that is missing")
}

func TestToolsAsJSON(t *testing.T) {
	got := vmcpWith(t, "tools", "--json")
	require.Equal(t, statusOK, got.status)
	var printed struct {
		vmcp.Report
		Tools []mcp.Tool `json:"tools"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &printed))
	assert.Len(t, printed.Tools, 2)
	assert.Equal(t, vmcp.Degraded, printed.Backends[1].State)
	assert.Len(t, printed.Backends[1].Contradictions, 3)
}

func TestToolsOfABrokenServerSayWhyAndWhatToDo(t *testing.T) {
	file := remote(t, badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {badserver.Fail(-32603, "the disk is full")}}})
	got := vmcpWith(t, "tools", "--config", file)
	assert.Equal(t, statusFailure, got.status)
	assert.Contains(t, got.out, "the disk is full")
	assert.Contains(t, got.err, "vmcp: no session: 1 of 1 servers failed")

	asJSON := vmcpWith(t, "tools", "--json", "--config", file)
	assert.Equal(t, statusFailure, asJSON.status)
	var printed vmcp.Report
	require.NoError(t, json.Unmarshal([]byte(asJSON.out), &printed))
	assert.Equal(t, []string{"bad"}, printed.Failed())
}

func TestCheckExitStatus(t *testing.T) {
	lists := map[string][]badserver.Answer{"tools/list": {badserver.Tools("a")}}
	tests := map[string]struct {
		script badserver.Script
		status int
		out    string
	}{
		"all kept":     {badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`), Answers: lists}, statusOK, "bad: kept"},
		"contradicted": {badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`), Answers: lists}, statusContradicted, "it advertises `prompts`, and answers `prompts/list` with: -32601"},
		"failed": {badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`),
			Answers: map[string][]badserver.Answer{"tools/list": {badserver.Fail(-32000, "no")}}}, statusFailed, "bad: failed"},
		"its own database is away": {badserver.Script{Name: "acme", Version: "1", Capabilities: json.RawMessage(`{"tools":{}}`),
			Answers: map[string][]badserver.Answer{"tools/list": {badserver.Fail(-32603, "the database is away")}}}, statusFailed,
			"acme 1 fails at what it advertises"},
		"two prompts of one name": {badserver.Script{Capabilities: json.RawMessage(`{"prompts":{}}`),
			Answers: map[string][]badserver.Answer{
				"prompts/list": {badserver.Prompts("a", "a")}, "prompts/get": {badserver.Result(map[string]any{"messages": []any{}})},
			}}, statusContradicted, `2 prompts, of them 2 with the name "a"`},
		"a prompt that is null": {badserver.Script{Capabilities: json.RawMessage(`{"prompts":{}}`),
			Answers: map[string][]badserver.Answer{
				"prompts/list": {badserver.Prompts("a")}, "prompts/get": {{Result: json.RawMessage("null")}},
			}}, statusFailed, `a result without the list "messages": null`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, "check", "--config", remote(t, tt.script))
			assert.Equal(t, tt.status, got.status)
			assert.Contains(t, got.out, tt.out)
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		got := vmcpWith(t, "check", "--url", "http://127.0.0.1:1/mcp?token=hush-hush")
		assert.Equal(t, statusFailed, got.status)
		assert.Contains(t, got.out, "could not be asked: connect to http://127.0.0.1:1/mcp")
		assert.Contains(t, got.out, "check the address, and that the server is running")
		assert.NotContains(t, got.out+got.err, "hush-hush")
	})
	t.Run("the embedded servers", func(t *testing.T) {
		got := vmcpWith(t, "check", "--json")
		assert.Equal(t, statusContradicted, got.status)
		var printed []struct {
			ID, Verdict, BugReport string
			Findings               []vmcp.Finding
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &printed))
		require.Len(t, printed, 2)
		assert.Equal(t, "kept", printed[0].Verdict)
		assert.Empty(t, printed[0].BugReport)
		assert.Equal(t, "contradicted", printed[1].Verdict)
		assert.NotEmpty(t, printed[1].BugReport)
	})
}

func TestWrongUsageCostsStatus2AndNamesTheRemedy(t *testing.T) {
	unknown := write(t, "servers.json", `{"mcpServers": {"a": {"comand": "x"}}}`)
	tests := map[string]struct {
		args []string
		says string
	}{
		"an unknown command":                {[]string{"chekc"}, "Did you mean this?\n\tcheck"},
		"an unknown flag":                   {[]string{"tools", "--colour"}, "unknown flag: --colour"},
		"no time to wait":                   {[]string{"tools", "--timeout", "0s"}, "write one such as 30s"},
		"an empty configuration":            {[]string{"tools", "--config", ""}, "--config is empty"},
		"an empty URL":                      {[]string{"check", "--url", ""}, "--url is not an absolute http or https URL"},
		"a URL of another scheme":           {[]string{"check", "--url", "ftp://x/y"}, "--url is not an absolute http or https URL"},
		"two ways to serve at once":         {[]string{"serve", "--stdio", "--listen", "127.0.0.1:0"}, "--stdio and --listen exclude each other: give one"},
		"an argument too many":              {[]string{"tools", "x"}, `unknown command "x" for "vmcp tools"`},
		"a configuration that is not there": {[]string{"serve", "--config", "no-such.json"}, "no-such.json: no such file. Check the path"},
		"an unknown key":                    {[]string{"check", "--config", unknown}, `servers.json:1: mcpServers.a.comand: unknown key. Did you mean "command"?`},
		"a URL and a command":               {[]string{"check", "--url", "http://127.0.0.1:1/", "--", "x"}, "exclude each other"},
		"a command without --":              {[]string{"check", "x"}, "stands after --"},
		"a URL that is none":                {[]string{"check", "--url", "example.com/?k=hush-hush"}, "--url is not an absolute http or https URL"},
		"a level that is none":              {[]string{"tools", "--log-level", "loud"}, "invalid argument"},
		"an address that is not loopback":   {[]string{"serve", "--listen", "0.0.0.0:0"}, "not a loopback address"},
		"an address without a port":         {[]string{"serve", "--listen", "127.0.0.1"}, "such as 127.0.0.1:4483"},
		"a file that cannot be written":     {[]string{"tools", "--contradictions", t.TempDir()}, "name a file that can be written"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, tt.args...)
			assert.Equal(t, statusUsage, got.status)
			assert.Contains(t, got.err, tt.says)
			assert.Contains(t, got.err, "--help")
			assert.Empty(t, got.out)
			assert.NotContains(t, got.err, "hush-hush")
		})
	}
}

func TestContradictionsGoToTheirFileWhateverTheLevel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "contradictions.jsonl")
	got := vmcpWith(t, "tools", "--log-level", "error", "--contradictions", file)
	require.Equal(t, statusOK, got.status)
	assert.Empty(t, got.err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	require.Len(t, lines, 3, "and nothing else")
	for _, line := range lines {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		assert.Equal(t, "capability_contradiction", record["event"])
		assert.Equal(t, "boastful", record["backendID"])
	}
}

func TestIgnoredKeysGetOneLine(t *testing.T) {
	server := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{}`)}))
	file := write(t, "servers.json", `{"mcpServers": {"a": {"url": "`+server+`", "autoApprove": ["x"]}}}`)
	got := vmcpWith(t, "tools", "--config", file)
	assert.Equal(t, statusOK, got.status)
	assert.Equal(t, 1, strings.Count(got.err, "mcpServers.a.autoApprove has no effect"))
	assert.Contains(t, got.err, `has no effect in vmcp","event":"config_note"}`)
}

// serving runs vmcp serve over HTTP and returns its endpoint and a way to end it.
func serving(t *testing.T, args ...string) (endpoint string, end func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), streams{strings.NewReader(""), writer, io.Discard})
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for endpoint == "" && lines.Scan() {
		endpoint = regexp.MustCompile(`http://\S+/mcp`).FindString(lines.Text())
	}
	require.NotEmpty(t, endpoint)
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return endpoint, func() int {
		stop()
		return <-ended
	}
}

func TestServeAnswersBothErasAndEndsOnASignal(t *testing.T) {
	endpoint, end := serving(t)
	for _, version := range []string{mcp.ProtocolVersion20250618, mcp.ProtocolVersion20260728} {
		t.Run(version, func(t *testing.T) {
			own := http.DefaultTransport.(*http.Transport).Clone()
			defer own.CloseIdleConnections()
			over, err := transport.NewStreamableHTTP(endpoint, transport.WithHTTPBasicClient(&http.Client{Transport: own}))
			require.NoError(t, err)
			c := client.NewClient(over, client.WithProtocolVersion(version))
			useServe(t, c)
			assert.Equal(t, version, c.ProtocolVersion())
		})
	}
	assert.Equal(t, statusOK, end())
}

// useServe lists and calls through the embedded session.
func useServe(t *testing.T, c *client.Client) {
	t.Helper()
	require.NoError(t, c.Start(t.Context()))
	defer func() { assert.NoError(t, c.Close()) }()
	handshake, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	assert.Equal(t, "vmcp", handshake.ServerInfo.Name)
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Len(t, tools.Tools, 3)
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "honest_echo", Arguments: map[string]any{"message": "hello"}}})
	require.NoError(t, err)
	assert.Equal(t, "hello", result.Content[0].(mcp.TextContent).Text)
}

func TestServeOverStdioKeepsStdoutForTheProtocol(t *testing.T) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var log bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"serve", "--stdio"}, streams{toServer, fromServer, &log})
		_ = fromServer.Close()
	}()
	useServe(t, client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader("")))))
	assert.Equal(t, statusOK, <-ended, "it ends with its input")
	assert.Contains(t, log.String(), `"event":"backend_degraded"`, "the log says how the servers are")
}

func TestServeSaysThatItsAddressIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	got := vmcpWith(t, "serve", "--listen", listener.Addr().String())
	assert.Equal(t, statusFailure, got.status)
	assert.Contains(t, got.err, "choose another address with --listen")
}

func TestVersionAndHelp(t *testing.T) {
	assert.Contains(t, vmcpWith(t, "--version").out, "vmcp version ")
	for _, command := range []string{"serve", "tools", "check"} {
		got := vmcpWith(t, command, "--help")
		assert.Equal(t, statusOK, got.status)
		assert.Contains(t, got.out, "--config FILE")
	}
}

func TestBadserverActsItsScriptAndTellsWhatItGot(t *testing.T) {
	script := write(t, "script.json", `{"capabilities": {"tools": {}, "resources": {}}, "answers": {"tools/list": [{"result": {"tools": []}}]}}`)
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var told bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"badserver", "--script", script, "--listen", "127.0.0.1:0"}, streams{strings.NewReader(""), writer, &told})
		_ = writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	got := vmcpWith(t, "check", "--url", strings.TrimSpace(strings.TrimPrefix(line, "bad server at ")))
	assert.Equal(t, statusContradicted, got.status, got.out)
	stop()
	assert.Equal(t, statusOK, <-ended)
	assert.Contains(t, told.String(), `\"method\":\"resources/list\"`)
}

func TestBadserverOverStdioEndsWithItsInput(t *testing.T) {
	script := write(t, "script.json", `{"capabilities": {"tools": {}}}`)
	var out, told bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	assert.Equal(t, statusOK, run(t.Context(), []string{"badserver", "--stdio", "--script", script}, streams{in, &out, &told}))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, out.String())
}

func TestBadserverNamesWhatIsWrongWithItsScript(t *testing.T) {
	for name, args := range map[string][]string{
		"none":         {"badserver"},
		"not there":    {"badserver", "--script", "no-such.json"},
		"unknown key":  {"badserver", "--script", write(t, "a.json", `{"capability": {}}`)},
		"two at once":  {"badserver", "--script", write(t, "b.json", `{}`), "--stdio", "--sse"},
		"not loopback": {"badserver", "--script", write(t, "c.json", `{}`), "--listen", "0.0.0.0:0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, args...)
			assert.Equal(t, statusUsage, got.status)
			assert.Contains(t, got.err, "vmcp: ")
		})
	}
}

// full is standard output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFailureIsNoMatterOfUsage(t *testing.T) {
	for _, args := range [][]string{{"tools"}, {"tools", "--json"}, {"check"}, {"check", "--json"}, {"serve", "--listen", "127.0.0.1:0"}} {
		var told bytes.Buffer
		assert.Equal(t, statusFailure, run(t.Context(), args, streams{strings.NewReader(""), full{}, &told}), args)
		assert.Contains(t, told.String(), "no space left on device")
		assert.NotContains(t, told.String(), "--help")
	}
}

func TestAnInterruptionIsNoFactAboutServers(t *testing.T) {
	server := badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {{Hang: true}}}})
	defer server.Close()
	file := write(t, "servers.json", `{"mcpServers": {"bad": {"url": "`+newLoopback(t, server)+`"}}}`)
	for n, command := range []string{"tools", "check", "serve"} {
		ended := make(chan outcome, 1)
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			var out, told bytes.Buffer
			status := run(ctx, []string{command, "--config", file, "--log-level", "error"}, streams{strings.NewReader(""), &out, &told})
			ended <- outcome{status, out.String(), told.String()}
		}()
		require.NoError(t, server.Await(t.Context(), "tools/list", n+1))
		interrupt()
		got := <-ended
		assert.Equal(t, statusFailure, got.status, command)
		assert.Contains(t, got.err, "interrupted", command)
		assert.Empty(t, got.out, command)
	}
}

func TestSecretsThatAServerRepeatsAreNotPassedOn(t *testing.T) {
	const secret = "hunter2-secret-token"
	t.Setenv("VMCP_TEST_TOKEN", secret)
	said := "bad token " + secret
	server := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"resources":{},"prompts":{}}`),
		Answers: map[string][]badserver.Answer{
			"tools/list":     {badserver.Tools("a")},
			"resources/list": {badserver.Fail(mcp.METHOD_NOT_FOUND, said)},
			"prompts/list":   {badserver.Fail(mcp.INTERNAL_ERROR, said)},
		}}))
	file := write(t, "servers.json", `{"mcpServers": {"bad": {"url": "`+server+`", "headers": {"Authorization": "Bearer ${VMCP_TEST_TOKEN}"}}}}`)
	feed := filepath.Join(t.TempDir(), "contradictions.jsonl")
	for _, args := range [][]string{{"tools"}, {"tools", "--json"}, {"check"}, {"check", "--json"}} {
		got := vmcpWith(t, append(args, "--config", file, "--log-level", "debug", "--contradictions", feed)...)
		assert.Contains(t, got.out+got.err, "bad token ***", args)
		assert.NotContains(t, got.out+got.err, secret, args)
	}
	data, err := os.ReadFile(feed)
	require.NoError(t, err)
	assert.NotContains(t, string(data), secret)
}
