package badserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
const pong = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"

// exchange gives a server its whole input at once.
func exchange(t *testing.T, script badserver.Script, input string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := badserver.New(script).Serve(soon(t), strings.NewReader(input), &out)
	return out.String(), err
}

func TestStdioLines(t *testing.T) {
	t.Parallel()
	answer := func(a badserver.Answer) badserver.Script { return badserver.Script{Answers: on("ping", a)} }
	for name, test := range map[string]struct {
		script      badserver.Script
		input, want string
	}{
		"answers what was asked before the end": {badserver.Script{}, ping + "\n", pong},
		"the last line needs no line end":       {badserver.Script{}, ping, pong},
		"blank lines are nothing":               {badserver.Script{}, "\n\r\n" + ping + "\r\n", pong},
		"a notification has no answer":          {badserver.Script{}, `{"jsonrpc":"2.0","method":"ping"}`, ""},
		"a client's answer has no answer":       {badserver.Script{}, `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		"what is no message gets an error": {
			badserver.Script{}, "nonsense",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n",
		},
		"a result on several lines is one line": {
			answer(badserver.Answer{Result: json.RawMessage("{\n\"a\": 1\n}")}), ping,
			`{"jsonrpc":"2.0","id":1,"result":{"a":1}}` + "\n",
		},
		"noise, before, answer, after": {
			answer(badserver.Answer{
				Noise:  "Server running on stdio",
				Before: []json.RawMessage{json.RawMessage("{\n}")},
				After:  []json.RawMessage{json.RawMessage("[ ]")},
			}), ping,
			"Server running on stdio\n{}\n" + pong + "[]\n",
		},
		"a raw body":               {answer(badserver.Answer{Body: ptr("oops")}), ping, "oops\n"},
		"a raw body with its end":  {answer(badserver.Answer{Body: ptr("oops\n")}), ping, "oops\n"},
		"another id":               {answer(badserver.Answer{ID: json.RawMessage("0")}), ping, `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"},
		"what hangs is left out":   {answer(badserver.Answer{Hang: true}.Once()), ping + "\n" + ping, pong},
		"what is delayed, too":     {answer(badserver.Answer{Delay: badserver.Duration(time.Hour)}.Once()), ping + "\n" + ping, pong},
		"a cut is half a line":     {answer(badserver.Answer{Cut: true, Body: ptr("12345678")}), ping, "1234"},
		"a status is not for here": {answer(badserver.Answer{Status: 503}), ping, pong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := exchange(t, test.script, test.input)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestStdioExitSaysNothing(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("ping", badserver.Answer{Exit: true}.Once())}
	got, err := exchange(t, script, ping+"\n"+ping)
	require.ErrorIs(t, err, badserver.ErrExit)
	assert.Empty(t, got, "what was asked after the exit is not answered")
}

func TestStdioDelayedExit(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("tools/list",
		badserver.Answer{Exit: true, Delay: badserver.Duration(30 * time.Millisecond)})})
	tr, result := serve(t, s)
	c := start(t, tr)
	initialize(t, c)
	failed := make(chan error, 1)
	go func() { _, err := c.ListTools(context.Background(), mcp.ListToolsRequest{}); failed <- err }()
	require.NoError(t, s.Await(soon(t), "tools/list", 1))
	require.ErrorIs(t, receive(t, failed), transport.ErrTransportClosed)
	require.ErrorIs(t, receive(t, result), badserver.ErrExit)
}

func TestStdioAnswersBeforeItClosesItsOutput(t *testing.T) {
	t.Parallel()
	reader, out := io.Pipe()
	result := make(chan error, 1)
	go func() {
		result <- badserver.New(badserver.Script{}).Serve(soon(t), strings.NewReader(strings.Repeat(ping+"\n", 20)), out)
	}()
	all, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat(pong, 20), string(all))
	require.NoError(t, receive(t, result))
}

func TestStdioReturnsTheErrorOfReading(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var out bytes.Buffer
	err := badserver.New(badserver.Script{}).Serve(soon(t),
		io.MultiReader(strings.NewReader(ping+"\n"), iotest.ErrReader(broken)), &out)
	require.ErrorIs(t, err, broken)
	assert.Equal(t, pong, out.String())
}

func TestStdioEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := badserver.New(badserver.Script{Answers: on("ping", badserver.Answer{Hang: true})})
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx, in, out) }()
	_, err := io.WriteString(toServer, ping+"\n")
	require.NoError(t, err)
	require.NoError(t, s.Await(soon(t), "ping", 1))
	cancel()
	require.ErrorIs(t, receive(t, result), context.Canceled)
	_, err = io.WriteString(toServer, ping+"\n")
	require.ErrorIs(t, err, io.ErrClosedPipe, "in is closed")
	_, err = fromServer.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "out is closed")
}

// A client that neither reads nor leaves must not keep Serve from ending.
func TestStdioEndsAlthoughNobodyReads(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	in, toServer := io.Pipe()
	_, out := io.Pipe()
	s := badserver.New(badserver.Script{})
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx, in, out) }()
	_, err := io.WriteString(toServer, ping+"\n")
	require.NoError(t, err)
	require.NoError(t, s.Await(soon(t), "ping", 1))
	require.NoError(t, toServer.Close())
	cancel()
	require.ErrorIs(t, receive(t, result), context.Canceled)
}

func TestStdioWritesEachLineAtOnce(t *testing.T) {
	t.Parallel()
	var out writes
	err := badserver.New(badserver.Script{}).Serve(soon(t), strings.NewReader(strings.Repeat(ping+"\n", 50)), &out)
	require.NoError(t, err)
	require.Len(t, out, 50)
	for _, line := range out {
		assert.Equal(t, pong, line)
	}
}

// writes keeps each Write apart; it is no use to concurrent writers, so the
// race detector sees them.
type writes []string

func (w *writes) Write(data []byte) (int, error) {
	*w = append(*w, string(data))
	return len(data), nil
}

func TestStdioHasNoLineLimit(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("x", 1<<20)
	s := badserver.New(badserver.Script{Answers: on("tools/list", badserver.Tools(name))})
	c := start(t, dialStdio(t, s))
	initialize(t, c)
	var request mcp.ListToolsRequest
	request.Params.Cursor = mcp.Cursor(name)
	tools, err := c.ListToolsByPage(soon(t), request)
	require.NoError(t, err)
	assert.Equal(t, []string{name}, toolNames(tools.Tools))
	assert.Equal(t, 1, s.Count("tools/list"))
}

func TestStdioNoiseIsSkippedByTheClient(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Name: "n", Answers: on("initialize", badserver.Answer{Noise: "Listening on stdio"})}
	assert.Equal(t, "n", initialize(t, start(t, dialStdio(t, badserver.New(script)))).ServerInfo.Name)
}

// The answer of the client to a request of the server must find a reader even
// while the server is still speaking.
func TestStdioServerAsksTheClient(t *testing.T) {
	t.Parallel()
	list := badserver.Tools("a")
	list.Before = []json.RawMessage{json.RawMessage(`{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`)}
	list.After = []json.RawMessage{json.RawMessage(`{"jsonrpc":"2.0","id":"s2","method":"ping"}`)}
	s := badserver.New(badserver.Script{Answers: on("tools/list", list)})
	c := start(t, dialStdio(t, s))
	initialize(t, c)
	_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
	require.NoError(t, err)
	require.NoError(t, s.Await(soon(t), "", 2))
	var ids []string
	for _, request := range s.Requests() {
		if request.Method == "" {
			ids = append(ids, string(request.ID))
		}
	}
	assert.ElementsMatch(t, []string{`"s1"`, `"s2"`}, ids)
}

func TestStdioProgram(t *testing.T) {
	t.Parallel()
	tr := transport.NewStdio(testBinary(t), []string{scriptVariable + "=testdata/contradiction.json"})
	c := start(t, tr)
	result := initialize(t, c)
	assert.Equal(t, mcp.Implementation{Name: "contradiction", Version: "1.2.3"}, result.ServerInfo)
	tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, toolNames(tools.Tools))
	_, err = c.ListResources(soon(t), mcp.ListResourcesRequest{})
	assert.ErrorIs(t, err, mcp.ErrMethodNotFound)
	require.NoError(t, c.Close(), "it ends by itself once its input has")
}

// A server that dies when it is asked anything before initialize.
func TestStdioProgramExits(t *testing.T) {
	t.Parallel()
	tr := transport.NewStdio(testBinary(t), []string{scriptVariable + "=testdata/dies.json"})
	c := start(t, tr, client.WithDiscoverTimeout(-1))
	_, err := c.Initialize(soon(t), mcp.InitializeRequest{})
	require.ErrorIs(t, err, transport.ErrTransportClosed)
	var exit *exec.ExitError
	require.ErrorAs(t, c.Close(), &exit)
	assert.Equal(t, 3, exit.ExitCode())
}
