//go:build real && unix

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted are secrets of the servers' configuration, as they would show up.
var planted = []string{
	"planted-environment", "planted-user", "planted-password", "planted-query", "planted-header",
	base64.StdEncoding.EncodeToString([]byte("planted-user:planted-password")),
}

// realFleet are five servers as people have them: two that contradict themselves,
// an honest one, one that nobody has started yet at an address, and one that
// accepts connections and never answers.
func realFleet(t *testing.T, dead string) map[string]entry {
	t.Helper()
	drawio := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, drawio, "node", script("drawio-mcp-server/build/index.js"), "--transport", "http", "--host", "127.0.0.1",
		"--http-port", strings.Split(drawio, ":")[1], "--extension-port", strconv.Itoa(freePort(t)))
	hubspot := hubspot()
	hubspot["env"] = map[string]string{"PRIVATE_APP_ACCESS_TOKEN": planted[0]}
	return map[string]entry{
		"hubspot":    hubspot,
		"drawio":     {"url": "http://" + drawio + "/mcp"},
		"everything": everything(),
		"dead": {"url": fmt.Sprintf("http://%s:%s@%s/mcp?token=%s", planted[1], planted[2], dead, planted[3]),
			"headers": map[string]string{"X-Api-Key": planted[4]}, "retry": map[string]string{"initial": "500ms", "max": "1s"}},
		// It would fail after a while, which is another test's.
		"hanging": {"url": "http://" + silent(t) + "/mcp", "timeouts": map[string]string{"connect": "10m"}},
	}
}

// realTools are how many tools each server of realFleet has.
var realTools = map[string]int{"hubspot": 21, "drawio": 30, "everything": 13}

// silent accepts connections until the test ends, and says nothing.
func silent(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var held []net.Conn
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			held = append(held, connection)
		}
		for _, connection := range held {
			_ = connection.Close()
		}
	}()
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		<-ended
	})
	return listener.Addr().String()
}

// channels are all the ways in which an endpoint tells how things stand, as they
// were at about the same time.
type channels struct {
	status       status.Document // GET /status
	instructions string          // of the handshake
	text         string          // of the tool vmcp_status
	report       vmcp.Report     // its structured content
	tools        []string        // tools/list
	missing      []gateway.Missing
	page         string
	command      string // vmcp status
	exit         int
}

// assertSame sees that every channel says the same of a backend: its state, since
// when, why and what can be done about it, as GET /status has them.
func (c channels) assertSame(t *testing.T, id string) {
	t.Helper()
	want, ok := vmcp.Report{Backends: c.status.Backends}.Backend(id)
	require.True(t, ok)
	require.NotEmpty(t, want.Reason)
	require.NotEmpty(t, want.Remedy)

	got, ok := c.report.Backend(id)
	require.True(t, ok)
	assert.Equal(t, told(want), told(got), "vmcp_status, structured")

	var marked []gateway.Missing
	for _, missing := range c.missing {
		if missing.Backend == id {
			marked = append(marked, missing)
		}
	}
	assert.Equal(t, []gateway.Missing{told(want)}, marked, "the _meta of tools/list")

	sentence := fmt.Sprintf("Backend %q has been %s since %s: %s. Remedy: %s.", id, want.State, want.Since.Format(time.RFC3339), want.Reason, want.Remedy)
	assert.Contains(t, c.instructions, sentence, "instructions")
	assert.Contains(t, c.text, sentence, "vmcp_status, in words")
	c.assertPage(t, want)
	c.assertCommand(t, want)
}

// told is what counts in a report.
func told(b vmcp.BackendReport) gateway.Missing {
	return gateway.Missing{Backend: b.ID, State: b.State, Since: b.Since, Reason: b.Reason, Remedy: b.Remedy}
}

// assertPage looks into the part of the page that is about the backend.
func (c channels) assertPage(t *testing.T, want vmcp.BackendReport) {
	t.Helper()
	_, about, found := strings.Cut(c.page, "<bdi>"+want.ID+"</bdi></h3>")
	require.True(t, found, "%s is on the page", want.ID)
	about, _, _ = strings.Cut(about, "</article>")
	for _, part := range []string{
		"<b>" + string(want.State) + "</b>", want.Since.Format("2 Jan 2006, 15:04:05 UTC"),
		"<bdi>" + want.Reason + "</bdi>", "<b>What to do:</b> <bdi>" + want.Remedy + "</bdi>",
	} {
		assert.Contains(t, about, part, "the page")
	}
}

func (c channels) assertCommand(t *testing.T, want vmcp.BackendReport) {
	t.Helper()
	assert.Regexp(t, `(?m)^`+want.ID+` +`+string(want.State)+` .*  `+regexp.QuoteMeta(want.Reason)+`$`, c.command)
	assert.Contains(t, c.command, "\n"+want.ID+": "+want.Remedy+"\n")
	assert.Contains(t, c.command, fmt.Sprintf("\n%s: %s since %s", want.ID, want.State, day(want.Since)))
}

// everything is all that was said, for a search.
func (c channels) everything(t *testing.T) string {
	t.Helper()
	documents, err := json.Marshal([]any{c.status, c.report, c.missing})
	require.NoError(t, err)
	return strings.Join([]string{string(documents), c.instructions, c.text, c.page, c.command}, "\n")
}

func assertNothingPlanted(t *testing.T, where, said string) {
	t.Helper()
	for _, secret := range planted {
		assert.NotContains(t, said, secret, where)
	}
}

// clientAt connects to vmcp serve and hears what it says unasked.
func clientAt(t *testing.T, target connect.Target) (c *mcpclient.Client, changes <-chan string) {
	t.Helper()
	c = openAt(t, target, connect.WithListening())
	told := make(chan string, 64)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if strings.HasSuffix(n.Method, "list_changed") {
			told <- n.Method
		}
	})
	return c, told
}

// toolsOf are the tools that a client sees, and what the list says it lacks.
func toolsOf(t require.TestingT, c *mcpclient.Client) (names []string, missing []gateway.Missing) {
	list, err := c.ListToolsByPage(context.Background(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if list.Meta != nil {
		marker, err := json.Marshal(list.Meta.AdditionalFields[gateway.MissingKey])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(marker, &missing))
	}
	return names, missing
}

func countOf(names []string, backend string) int {
	n := 0
	for _, name := range names {
		if strings.HasPrefix(name, backend+"_") {
			n++
		}
	}
	return n
}

// assertRealTools sees that the tools of all servers that work are there.
func assertRealTools(t assert.TestingT, names []string) {
	for backend, count := range realTools {
		assert.Equal(t, count, countOf(names, backend), backend)
	}
	assert.Contains(t, names, gateway.StatusTool)
}

func page(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", body)
	return string(body)
}

// hear asks the endpoint and the client of it, who came anew for that.
func hear(t *testing.T, endpoint string) (heard channels) {
	t.Helper()
	address := strings.TrimSuffix(endpoint, "/mcp")
	c, _ := clientAt(t, connect.HTTP{URL: endpoint})
	handshake, ok := c.Server()
	require.True(t, ok)
	heard.instructions = handshake.Instructions
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: gateway.StatusTool}})
	require.NoError(t, err)
	heard.text = result.Content[0].(mcp.TextContent).Text
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(structured, &heard.report))
	heard.tools, heard.missing = toolsOf(t, c)
	require.NoError(t, json.Unmarshal([]byte(page(t, address+"/status")), &heard.status))
	heard.page = html.UnescapeString(page(t, address+"/"))
	command := vmcpWith(t, "status", "--url", address)
	heard.command, heard.exit = command.out, command.status
	return heard
}

// hold serves the server inside the program at an address, until the test ends.
func hold(t *testing.T, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	back := &http.Server{Handler: server.NewStreamableHTTPServer(honest())}
	served := make(chan error, 1)
	go func() { served <- back.Serve(listener) }()
	t.Cleanup(func() {
		assert.NoError(t, back.Close())
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
	})
}

// softly is the session's soft deadline, and what a busy machine may add to it.
const softly = 5*time.Second + 3*time.Second

func TestRealGatewayTellsOneStoryAndTheDeadComeBack(t *testing.T) {
	dead := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	file := configFile(t, realFleet(t, dead))
	began := time.Now()
	p, endpoint := launchEndpoint(t, file, "--log-level", "debug")
	assert.Less(t, time.Since(began), softly, "no slow backend holds up the start")
	t.Logf("the endpoint was announced after %s", time.Since(began))
	c, changes := clientAt(t, connect.HTTP{URL: endpoint})

	began = time.Now()
	names, _ := toolsOf(t, c)
	assert.Less(t, time.Since(began), softly, "no slow backend holds up the list")
	t.Logf("the first list: %d tools after %s", len(names), time.Since(began))
	late := len(names) < 21+30+13+1
	require.EventuallyWithT(t, func(t *assert.CollectT) { // Node may need longer to start than that
		names, _ := toolsOf(t, c)
		assertRealTools(t, names)
	}, time.Minute, 200*time.Millisecond)
	if late {
		assert.Equal(t, mcp.MethodNotificationToolsListChanged, <-changes, "what is late is announced")
	}

	heard := hear(t, endpoint)
	logTimes(t, heard.status)
	assertRealTools(t, heard.tools)
	assert.Equal(t, vmcp.Failed, stateOf(t, heard, "dead"))
	assert.Equal(t, vmcp.Connecting, stateOf(t, heard, "hanging"))
	for _, id := range []string{"hubspot", "drawio"} {
		assert.Equal(t, vmcp.Degraded, stateOf(t, heard, id))
	}
	assert.Equal(t, vmcp.Ready, stateOf(t, heard, "everything"))
	for _, id := range []string{"dead", "hanging"} {
		heard.assertSame(t, id)
	}
	assert.Equal(t, statusFailed, heard.exit)
	assertNothingPlanted(t, "while it is dead", heard.everything(t))

	t.Run("the Inspector lists the tools of all that work", func(t *testing.T) {
		began := time.Now()
		out := inspector(t, endpoint, "--method", "tools/list")
		t.Logf("the Inspector's list took %s, Node's start included", time.Since(began))
		for backend, count := range realTools {
			assert.Equal(t, count, strings.Count(out, `"name": "`+backend+`_`), backend)
		}
		assertNothingPlanted(t, "the Inspector", out)
	})

	for len(changes) > 0 {
		<-changes
	}
	hold(t, dead)
	began = time.Now()
	assert.Equal(t, mcp.MethodNotificationToolsListChanged, await(t, changes, mcp.MethodNotificationToolsListChanged))
	names, missing := toolsOf(t, c)
	t.Logf("a client heard of the dead server's tools %s after it came up", time.Since(began))
	assert.Contains(t, names, "dead_echo")
	assertRealTools(t, names)
	for _, m := range missing {
		assert.NotEqual(t, "dead", m.Backend)
	}
	text, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "dead_echo", Arguments: map[string]any{"message": "alive"}}})
	require.NoError(t, err)
	assert.Equal(t, "alive", text.Content[0].(mcp.TextContent).Text)

	heard = hear(t, endpoint)
	assertRecovered(t, heard, "dead")
	heard.assertSame(t, "hanging")
	assert.Equal(t, statusDegraded, heard.exit)
	assertNothingPlanted(t, "when it is back", heard.everything(t))

	began = time.Now()
	require.NoError(t, p.Process.Signal(os.Interrupt))
	p.ended(t)
	t.Logf("it ended %s after Ctrl-C", time.Since(began))
	log := p.log.String()
	assert.Contains(t, log, `"event":"backend_recovered"`)
	assert.Contains(t, log, `"level":"DEBUG"`)
	assertNothingPlanted(t, "the log", log)
}

func stateOf(t *testing.T, heard channels, id string) vmcp.State {
	t.Helper()
	b, ok := vmcp.Report{Backends: heard.status.Backends}.Backend(id)
	require.True(t, ok, id)
	return b.State
}

// assertRecovered sees that no channel calls the backend missing any more.
func assertRecovered(t *testing.T, heard channels, id string) {
	t.Helper()
	assert.Equal(t, vmcp.Ready, stateOf(t, heard, id))
	now, _ := vmcp.Report{Backends: heard.status.Backends}.Backend(id)
	got, _ := heard.report.Backend(id)
	assert.Equal(t, told(now), told(got))
	assert.Empty(t, now.Reason+now.Remedy)
	assert.NotContains(t, heard.instructions, fmt.Sprintf("Backend %q", id))
	assert.Contains(t, heard.text, fmt.Sprintf("Backend %q has been ready since %s.", id, now.Since.Format(time.RFC3339)))
	assert.Regexp(t, `(?m)^`+id+` +ready +1 `, heard.command)
	_, about, _ := strings.Cut(heard.page, "<bdi>"+id+"</bdi></h3>")
	about, _, _ = strings.Cut(about, "</article>")
	assert.Contains(t, about, "<b>ready</b>")
}

// await returns the change that is waited for.
func await(t *testing.T, changes <-chan string, wanted string) string {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case change := <-changes:
			if change == wanted {
				return change
			}
		case <-timeout:
			return "nothing within 20 s"
		}
	}
}

// logTimes says how long each server took, as the endpoint saw it.
func logTimes(t *testing.T, document status.Document) {
	t.Helper()
	for _, b := range document.Backends {
		t.Logf("%s: %s %s after the start, %d tools", b.ID, b.State, b.Since.Sub(document.StartedAt).Round(time.Millisecond), b.Tools)
	}
}

func TestRealGatewayOverStdio(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	file := configFile(t, realFleet(t, fmt.Sprintf("127.0.0.1:%d", freePort(t))))
	var log mcptest.Journal
	c, changes := clientAt(t, connect.Stdio{Command: binary, Args: []string{"serve", "--stdio", "--config", file, "--log-level", "debug"},
		Env: map[string]string{mainVariable: "1"}, Stderr: &log})
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		names, _ := toolsOf(t, c)
		assertRealTools(t, names)
	}, time.Minute, 200*time.Millisecond)
	names, missing := toolsOf(t, c)
	t.Logf("%d tools, %d changes were announced", len(names), len(changes))
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: gateway.StatusTool}})
	require.NoError(t, err)
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	var report vmcp.Report
	require.NoError(t, json.Unmarshal(structured, &report))
	states := map[string]vmcp.State{}
	var lacking []gateway.Missing
	for _, b := range report.Backends {
		states[b.ID] = b.State
		if b.State == vmcp.Failed || b.State == vmcp.Connecting {
			lacking = append(lacking, told(b))
		}
	}
	assert.Equal(t, map[string]vmcp.State{"hubspot": vmcp.Degraded, "drawio": vmcp.Degraded, "everything": vmcp.Ready,
		"dead": vmcp.Failed, "hanging": vmcp.Connecting}, states)
	assert.Equal(t, lacking, missing)
	assertNothingPlanted(t, "vmcp_status", string(structured))
	assertNothingPlanted(t, "the log", log.String())
}
