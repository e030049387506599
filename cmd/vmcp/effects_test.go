//go:build unix && !real

package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// effects show what each setting does, by its path, and what happens without it.
var effects = map[string]func(*testing.T){
	"required":             requiredTakesEffect,
	"prefix":               prefixTakesEffect,
	"timeouts.connect":     connectTakesEffect,
	"timeouts.discovery":   discoveryTakesEffect,
	"timeouts.call":        callTakesEffect,
	"tools.include":        includeTakesEffect,
	"tools.exclude":        excludeTakesEffect,
	"tools.rename":         renameTakesEffect,
	"tolerance.resources":  tolerated{"resources"}.takesEffect,
	"tolerance.prompts":    tolerated{"prompts"}.takesEffect,
	"tolerance.utilities":  utilitiesTakeEffect,
	"tolerance.failures":   failuresTakeEffect,
	"protocolVersion":      protocolVersionTakesEffect,
	"retry.initial":        retryInitialTakesEffect,
	"retry.max":            retryMaxTakesEffect,
	"breaker.failures":     breakerTakesEffect,
	"forwardHeaders":       forwardHeadersTakesEffect,
	"gateway.names":        namesTakeEffect,
	"gateway.softDeadline": softDeadlineTakesEffect,
	"gateway.idleTimeout":  idleTimeoutTakesEffect,
	"gateway.drainTimeout": drainTimeoutTakesEffect,
	"gateway.statusTool":   statusToolTakesEffect,

	"gateway.limits.sessions":      sessionsTakesEffect,
	"gateway.limits.calls":         callsTakesEffect,
	"gateway.limits.bodyBytes":     bodyBytesTakesEffect,
	"gateway.limits.headerBytes":   headerBytesTakesEffect,
	"gateway.limits.responseBytes": responseBytesTakesEffect,

	"gateway.tls.cert": tlsTakesEffect,
	"gateway.tls.key":  tlsTakesEffect,
	"gateway.watch":    watchTakesEffect,
}

func TestNoSettingIsWithoutEffect(t *testing.T) {
	settings := config.Settings()
	for _, path := range settings {
		require.Contains(t, effects, path)
		t.Run(path, effects[path])
	}
	for path := range effects {
		assert.Contains(t, settings, path)
	}
}

// oneServer is a configuration of one server, "good", and settings of the gateway.
func oneServer(t *testing.T, address, settings, gateway string) string {
	t.Helper()
	return write(t, "servers.json", fmt.Sprintf(`{"mcpServers": {"good": {"url": %q%s}}, "gateway": {%s}}`, address, settings, gateway))
}

// toolNames are those that vmcp tools lists.
func toolNames(t *testing.T, file string) []string {
	t.Helper()
	got := vmcpWith(t, "tools", "--json", "--config", file)
	require.Equal(t, statusOK, got.status, got.err)
	var printed struct{ Tools []mcp.Tool }
	require.NoError(t, json.Unmarshal([]byte(got.out), &printed))
	return namesOfTools(printed.Tools)
}

func namesOfTools(tools []mcp.Tool) []string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// client connects to vmcp serve on a configuration, until the test ends.
func clientOf(t *testing.T, endpoint string, options ...connect.Option) *mcpclient.Client {
	t.Helper()
	return openAt(t, connect.HTTP{URL: endpoint}, options...)
}

// served runs vmcp serve on a configuration, until the test ends.
func served(t *testing.T, file string) (endpoint string) {
	t.Helper()
	endpoint, end := launched(t, file)
	t.Cleanup(func() { assert.Equal(t, statusOK, end()) })
	return endpoint
}

// launched runs vmcp serve on a configuration, until it is ended.
func launched(t *testing.T, file string) (endpoint string, end func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--config", file}, streams{strings.NewReader(""), writer, io.Discard})
		_ = writer.Close()
	}()
	for lines := bufio.NewScanner(reader); endpoint == "" && lines.Scan(); {
		endpoint = regexp.MustCompile(`^MCP endpoint: (\S+)|.*`).FindStringSubmatch(lines.Text())[1]
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	require.NotEmpty(t, endpoint)
	return endpoint, func() int {
		stop()
		return <-ended
	}
}

// standing is what the endpoint says of its sessions and of the one backend.
func standing(t *testing.T, endpoint string) (sessions int, backend vmcp.BackendReport) {
	t.Helper()
	answer := get(t, strings.TrimSuffix(endpoint, "/mcp")+"/status", nil)
	var said struct {
		Sessions int
		Backends []vmcp.BackendReport
	}
	require.NoError(t, json.Unmarshal([]byte(answer.text), &said), answer.text)
	require.Len(t, said.Backends, 1)
	return said.Sessions, said.Backends[0]
}

type httpAnswer struct {
	status int
	text   string
}

// ask sends one request over a connection of its own.
func ask(t *testing.T, method, address string, header http.Header, body string) httpAnswer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	for name, values := range header {
		request.Header[name] = values
	}
	request.Close = true
	own := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer own.CloseIdleConnections()
	response, err := (&http.Client{Transport: own}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return httpAnswer{response.StatusCode, string(text)}
}

func get(t *testing.T, address string, header http.Header) httpAnswer {
	t.Helper()
	return ask(t, http.MethodGet, address, header, "")
}

// good is a server over HTTP with two tools.
func good(t *testing.T) string {
	t.Helper()
	return newLoopback(t, server.NewStreamableHTTPServer(twoTools()))
}

func twoTools() *server.MCPServer {
	s := server.NewMCPServer("good", "1")
	for _, name := range []string{"read", "write"} {
		s.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name), nil
		})
	}
	return s
}

func prefixTakesEffect(t *testing.T) {
	assert.Equal(t, []string{"good_read", "good_write"}, toolNames(t, oneServer(t, good(t), "", "")))
	assert.Equal(t, []string{"p_read", "p_write"}, toolNames(t, oneServer(t, good(t), `, "prefix": "p"`, "")))
}

func includeTakesEffect(t *testing.T) {
	assert.Equal(t, []string{"good_read"}, toolNames(t, oneServer(t, good(t), `, "tools": {"include": ["r*"]}`, "")))
	assert.Equal(t, []string{"good_read"}, toolNames(t, oneServer(t, good(t), `, "tools": ["r*"]`, "")))
	got := vmcpWith(t, "tools", "--config", oneServer(t, good(t), `, "tools": ["r*", "none_*"]`, ""))
	assert.Contains(t, got.err, `"pattern":"none_*"`, "a pattern that matches nothing is a WARN")
}

func excludeTakesEffect(t *testing.T) {
	assert.Equal(t, []string{"good_read"}, toolNames(t, oneServer(t, good(t), `, "tools": {"exclude": ["w????"]}`, "")))
}

func renameTakesEffect(t *testing.T) {
	file := oneServer(t, good(t), `, "tools": {"rename": {"read": "look"}}`, "")
	assert.Equal(t, []string{"good_look", "good_write"}, toolNames(t, file))
	text, err := call(t.Context(), clientOf(t, served(t, file)), "good_look")
	require.NoError(t, err)
	assert.Equal(t, "read", text)
}

// tolerated is a list that a server advertises and does not have.
type tolerated struct{ key string }

func (l tolerated) takesEffect(t *testing.T) {
	bad := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"` + l.key + `":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools("a")}}}))
	assert.Equal(t, statusOK, vmcpWith(t, "tools", "--config", oneServer(t, bad, "", "")).status)
	got := vmcpWith(t, "tools", "--config", oneServer(t, bad, `, "tolerance": {"`+l.key+`": false}`, ""))
	assert.Equal(t, statusFailure, got.status)
	assert.Contains(t, got.out, "the server advertises "+l.key)
}

func utilitiesTakeEffect(t *testing.T) {
	bad := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"prompts":{},"completions":{}}`),
		Answers: map[string][]badserver.Answer{"prompts/list": {badserver.Result(mcp.ListPromptsResult{Prompts: []mcp.Prompt{mcp.NewPrompt("p")}})}}}))
	complete := func(settings string) error {
		c := clientOf(t, served(t, oneServer(t, bad, settings, "")))
		_, err := c.Complete(t.Context(), mcp.CompleteRequest{Params: mcp.CompleteParams{
			Ref: mcp.PromptReference{Type: "ref/prompt", Name: "good_p"}, Argument: mcp.CompleteArgument{Name: "x"}}})
		return err
	}
	assert.NoError(t, complete(""))
	assert.ErrorIs(t, complete(`, "tolerance": {"utilities": false}`), mcp.ErrMethodNotFound)
}

func failuresTakeEffect(t *testing.T) {
	for settings, state := range map[string]vmcp.State{
		"": vmcp.Failed, `, "tolerance": {"failures": "fail"}`: vmcp.Failed, `, "tolerance": {"failures": "degrade"}`: vmcp.Degraded,
	} {
		away := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`), Answers: map[string][]badserver.Answer{
			"tools/list": {badserver.Tools("alpha")}, "prompts/list": {badserver.Fail(mcp.INTERNAL_ERROR, "the database is away")},
		}}))
		_, backend := standing(t, served(t, oneServer(t, away, settings, "")))
		assert.Equal(t, state, backend.State, settings)
		assert.Contains(t, backend.Reason, "the database is away")
	}
}

func callTakesEffect(t *testing.T) {
	slow, entry := newSlow(t)
	c := clientOf(t, served(t, oneServer(t, entry["url"].(string), `, "timeouts": {"call": "50ms"}`, "")))
	go func() { <-slow.called }()
	said, err := call(t.Context(), c, "good_wait")
	require.NoError(t, err)
	assert.Contains(t, said, "no answer within 50ms")
}

// nextTry is how long from its failure on a backend waits for the next attempt.
func nextTry(t *testing.T, answer badserver.Answer, settings string) time.Duration {
	t.Helper()
	bad := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {answer}}}))
	_, backend := standing(t, served(t, oneServer(t, bad, settings, "")))
	require.False(t, backend.NextTry.IsZero(), backend)
	return time.Until(backend.NextTry)
}

func retryInitialTakesEffect(t *testing.T) {
	passing := badserver.Fail(mcp.INTERNAL_ERROR, "for now")
	assert.Less(t, nextTry(t, passing, `, "retry": {"max": "10h"}`), time.Hour)
	assert.Greater(t, nextTry(t, passing, `, "retry": {"initial": "10h", "max": "10h"}`), time.Hour)
}

func retryMaxTakesEffect(t *testing.T) {
	refused := badserver.Answer{Status: http.StatusUnauthorized}
	assert.Less(t, nextTry(t, refused, ""), time.Hour)
	assert.Greater(t, nextTry(t, refused, `, "retry": {"max": "10h"}`), time.Hour)
}

func breakerTakesEffect(t *testing.T) {
	for failures, state := range map[int]vmcp.State{1: vmcp.Failed, 2: vmcp.Ready} {
		bad := badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`),
			Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools("a")}, "tools/call": {{Hang: true}}}})
		endpoint := served(t, oneServer(t, newLoopback(t, bad),
			fmt.Sprintf(`, "timeouts": {"call": "50ms"}, "breaker": {"failures": %d}, "retry": {"initial": "10h", "max": "10h"}`, failures), ""))
		_, _ = call(t.Context(), clientOf(t, endpoint), "good_a")
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			_, backend := standing(t, endpoint)
			assert.Equal(c, state, backend.State)
		}, 10*time.Second, 10*time.Millisecond, "after %d", failures)
		require.NoError(t, bad.Close())
	}
}

func forwardHeadersTakesEffect(t *testing.T) {
	var forwarded, other atomic.Bool
	inner := server.NewStreamableHTTPServer(twoTools())
	address := newLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-A") == "planted" {
			forwarded.Store(true)
		}
		if r.Header.Get("X-B") != "" {
			other.Store(true)
		}
		inner.ServeHTTP(w, r)
	}))
	endpoint := served(t, oneServer(t, address, `, "forwardHeaders": ["x-a"]`, ""))
	c, err := connect.To(connect.HTTP{URL: endpoint, Headers: map[string]string{"X-A": "planted", "X-B": "planted"}}).Open(t.Context())
	require.NoError(t, err)
	defer c.Close()
	_, err = call(t.Context(), c, "good_read")
	require.NoError(t, err)
	assert.True(t, forwarded.Load())
	assert.False(t, other.Load())
}

func namesTakeEffect(t *testing.T) {
	for _, names := range []string{"priority", "none"} {
		file := oneServer(t, good(t), "", `"statusTool": false, "names": "`+names+`"`)
		assert.Equal(t, []string{"read", "write"}, toolNames(t, file))
		assert.Equal(t, []string{"read", "write"}, offered(t, file))
	}
	// What two servers have: the first has it, or nobody.
	for names, want := range map[string][]string{"priority": {"read", "write"}, "none": nil} {
		file := write(t, "servers.json", fmt.Sprintf(`{"mcpServers": {"a": {"url": %q}, "b": {"url": %q}}, "gateway": {"names": %q}}`, good(t), good(t), names))
		assert.Equal(t, want, toolNames(t, file))
	}
}

// offered are the names of the tools that vmcp serve lists.
func offered(t *testing.T, file string) []string {
	t.Helper()
	tools, err := clientOf(t, served(t, file)).ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	return namesOfTools(tools.Tools)
}

func statusToolTakesEffect(t *testing.T) {
	assert.Equal(t, []string{"good_read", "good_write", "vmcp_status"}, offered(t, oneServer(t, good(t), "", "")))
	assert.Equal(t, []string{"good_read", "good_write"}, offered(t, oneServer(t, good(t), "", `"statusTool": false`)))
}

func softDeadlineTakesEffect(t *testing.T) {
	silent := badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {{Hang: true}}}})
	t.Cleanup(func() { assert.NoError(t, silent.Close()) })
	began := time.Now()
	_, backend := standing(t, served(t, oneServer(t, newLoopback(t, silent), "", `"softDeadline": "50ms"`)))
	assert.Equal(t, vmcp.Connecting, backend.State)
	assert.Less(t, time.Since(began), 4*time.Second)
}

func idleTimeoutTakesEffect(t *testing.T) {
	two := func(gateway string) string { // the session of the start, and that of who can be asked for samplings
		endpoint := served(t, oneServer(t, good(t), "", gateway))
		answer, err := http.Post(endpoint, "application/json", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"x","version":"1"}}}`))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return endpoint
	}
	endpoint := two(`"idleTimeout": "50ms"`)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		sessions, _ := standing(t, endpoint)
		assert.Equal(c, 1, sessions, "the last one stays")
	}, 20*time.Second, 10*time.Millisecond)
	sessions, _ := standing(t, two(""))
	assert.Equal(t, 2, sessions, "by default both stay")
}

func drainTimeoutTakesEffect(t *testing.T) {
	slow, entry := newSlow(t)
	endpoint, end := launched(t, oneServer(t, entry["url"].(string), "", `"drainTimeout": "50ms"`))
	c := clientOf(t, endpoint)
	go func() { _, _ = call(context.Background(), c, "good_wait") }()
	<-slow.called
	began := time.Now()
	assert.Equal(t, statusOK, end())
	assert.Less(t, time.Since(began), 4*time.Second)
}

func sessionsTakesEffect(t *testing.T) {
	const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	endpoint := served(t, oneServer(t, good(t), "", `"limits": {"sessions": 1}`))
	assert.Equal(t, http.StatusOK, ask(t, http.MethodPost, endpoint, header, first).status)
	second := ask(t, http.MethodPost, endpoint, header, first)
	assert.Equal(t, http.StatusServiceUnavailable, second.status, second.text)
}

func callsTakesEffect(t *testing.T) {
	slow, entry := newSlow(t)
	endpoint := served(t, oneServer(t, entry["url"].(string), "", `"limits": {"calls": 1}`))
	c := clientOf(t, endpoint, connect.WithProtocolVersion(mcp.ProtocolVersion20260728))
	answers := make(chan answer, 1)
	go func() {
		text, err := call(context.Background(), c, "good_wait")
		answers <- answer{text, err}
	}()
	<-slow.called
	_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	assert.Error(t, err, "one is being answered")
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	busy := ask(t, http.MethodPost, endpoint, header, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	assert.Equal(t, http.StatusServiceUnavailable, busy.status, busy.text)
	assert.Contains(t, busy.text, "1 requests are being answered already")
	close(slow.may)
	assert.Equal(t, answer{"at last", nil}, <-answers)
}

func bodyBytesTakesEffect(t *testing.T) {
	endpoint := served(t, oneServer(t, good(t), "", `"limits": {"bodyBytes": 1024}`))
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"` + strings.Repeat("x", 1024) + `"}}}`
	assert.Equal(t, http.StatusRequestEntityTooLarge, ask(t, http.MethodPost, endpoint, header, body).status)
}

func headerBytesTakesEffect(t *testing.T) {
	long := http.Header{"X-Long": {strings.Repeat("x", 16<<10)}}
	for limit, status := range map[int]int{1024: http.StatusRequestHeaderFieldsTooLarge, 65536: http.StatusOK} {
		endpoint := served(t, oneServer(t, good(t), "", fmt.Sprintf(`"limits": {"headerBytes": %d}`, limit)))
		assert.Equal(t, status, get(t, strings.TrimSuffix(endpoint, "/mcp")+"/status", long).status)
	}
}

func responseBytesTakesEffect(t *testing.T) {
	long := newLoopback(t, badserver.New(badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`),
		Answers: map[string][]badserver.Answer{"tools/list": {badserver.Tools(strings.Repeat("x", 2048))}}}))
	assert.Equal(t, statusOK, vmcpWith(t, "tools", "--config", oneServer(t, long, "", "")).status)
	assert.Equal(t, statusFailure, vmcpWith(t, "tools", "--config", oneServer(t, long, "", `"limits": {"responseBytes": 1024}`)).status)
}

func watchTakesEffect(t *testing.T) {
	file := oneServer(t, good(t), "", "")
	c := clientOf(t, served(t, file))
	rewrite(t, file, `"good"`, `"better"`)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		text, err := call(context.Background(), c, "better_read")
		require.NoError(t, err)
		assert.Equal(t, "read", text)
	}, 20*time.Second, 20*time.Millisecond)
	TestAFileThatIsNotToBeWatchedIsReadOnAHangup(t)
}

// configured writes a configuration of one server, a badserver over HTTP, with
// settings.
func configured(t *testing.T, script badserver.Script, settings string) string {
	t.Helper()
	server := badserver.New(script)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return write(t, "servers.json", fmt.Sprintf(`{"mcpServers": {"bad": {"url": %q, %s}}}`, newLoopback(t, server), settings))
}

func protocolVersionTakesEffect(t *testing.T) {
	for setting, version := range map[string]string{
		`"protocolVersion": null`:         "2026-07-28",
		`"protocolVersion": "2025-11-25"`: "2025-11-25",
		`"protocolVersion": "2025-06-18"`: "2025-06-18",
	} {
		address := newLoopback(t, server.NewStreamableHTTPServer(honest()))
		file := write(t, "servers.json", fmt.Sprintf(`{"mcpServers": {"good": {"url": %q, %s}}}`, address, setting))
		got := vmcpWith(t, "check", "--json", "--config", file)
		require.Equal(t, statusOK, got.status, got.err)
		assert.Contains(t, got.out, `"protocolVersion": "`+version+`"`)
	}
}

func requiredTakesEffect(t *testing.T) {
	for required, status := range map[string]int{"true": statusFailure, "false": statusOK} {
		// The settings close the one server and open another.
		file := configured(t, badserver.Script{Capabilities: json.RawMessage(`{}`)},
			`"required": true}, "dead": {"url": "http://127.0.0.1:1/mcp", "required": `+required)
		got := vmcpWith(t, "tools", "--config", file)
		assert.Equal(t, status, got.status, got.err)
	}
}

func connectTakesEffect(t *testing.T) {
	assertGivesUpSoon(t, badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`), Answers: map[string][]badserver.Answer{
		"server/discover": {{Hang: true}}, "initialize": {{Hang: true}}}}, `"timeouts": {"connect": "100ms", "discovery": "100ms"}`)
}

func discoveryTakesEffect(t *testing.T) {
	assertGivesUpSoon(t, badserver.Script{Capabilities: json.RawMessage(`{"tools":{}}`), Answers: map[string][]badserver.Answer{
		"tools/list": {{Hang: true}}}}, `"timeouts": {"connect": "400ms", "discovery": "100ms"}`)
}

// assertGivesUpSoon sees that a silent server does not cost an hour.
func assertGivesUpSoon(t *testing.T, script badserver.Script, settings string) {
	t.Helper()
	began := time.Now()
	got := vmcpWith(t, "tools", "--timeout", "1h", "--config", configured(t, script, settings))
	assert.Less(t, time.Since(began), time.Minute)
	assert.Equal(t, statusFailure, got.status, got.err)
	assert.Contains(t, got.err, "no session: 1 of 1 servers failed")
}

func tlsTakesEffect(t *testing.T) {
	cert, key := selfSigned(t)
	file := oneServer(t, good(t), "", fmt.Sprintf(`"tls": {"cert": %q, "key": %q}`, cert, key))
	address := strings.TrimSuffix(served(t, file), "/mcp")
	require.Contains(t, address, "https://")
	assert.Equal(t, http.StatusOK, get(t, address+"/healthz", nil).status)
}

// selfSigned writes a certificate for loopback, and its key.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return write(t, "tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))),
		write(t, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}
