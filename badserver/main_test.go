package badserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mcp-candor/candor/badserver"
)

// scriptVariable makes the test binary a stdio server that plays the script in
// the file it names.
const scriptVariable = "BADSERVER_SCRIPT"

func TestMain(m *testing.M) {
	if path := os.Getenv(scriptVariable); path != "" {
		os.Exit(program(path))
	}
	goleak.VerifyTestMain(m)
}

// program is what a stdio server's main function looks like.
func program(path string) int {
	file, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	script, err := badserver.Load(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = badserver.New(script).Serve(context.Background(), os.Stdin, os.Stdout)
	if errors.Is(err, badserver.ErrExit) {
		return 3
	}
	return 0
}

var quiet = slog.New(slog.DiscardHandler)

// wire is a transport between a client and a scripted server.
type wire struct {
	name string
	dial func(*testing.T, *badserver.Server) transport.Interface
}

var (
	overHTTP      = wire{"http", dialHTTP}
	overSSE       = wire{"sse", dialSSE}
	overStdio     = wire{"stdio", dialStdio}
	overInprocess = wire{"inprocess", dialInprocess}
)

func dialHTTP(t *testing.T, s *badserver.Server) transport.Interface {
	t.Helper()
	tr, err := transport.NewStreamableHTTP(listen(t, s), transport.WithHTTPBasicClient(httpClient(t)), transport.WithHTTPLogger(quiet))
	require.NoError(t, err)
	return tr
}

// httpClient has connections of its own: closing any httptest.Server breaks
// those of http.DefaultTransport for all tests that run at the time.
func httpClient(t *testing.T) *http.Client {
	t.Helper()
	own := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(own.CloseIdleConnections)
	return &http.Client{Transport: own}
}

// listen serves s over streamable HTTP and returns where.
func listen(t *testing.T, s *badserver.Server) string {
	t.Helper()
	endpoint := httptest.NewServer(s)
	t.Cleanup(func() { _ = s.Close(); endpoint.Close() })
	return endpoint.URL
}

func dialSSE(t *testing.T, s *badserver.Server) transport.Interface {
	t.Helper()
	tr, err := transport.NewSSE(listenSSE(t, s)+"/some/path", transport.WithHTTPClient(httpClient(t)), transport.WithSSELogger(quiet))
	require.NoError(t, err)
	return tr
}

func listenSSE(t *testing.T, s *badserver.Server) string {
	t.Helper()
	endpoint := httptest.NewServer(s.SSE())
	t.Cleanup(func() { _ = s.Close(); endpoint.Close() })
	return endpoint.URL
}

func dialStdio(t *testing.T, s *badserver.Server) transport.Interface {
	t.Helper()
	tr, _ := serve(t, s)
	return tr
}

// serve runs s on a pair of pipes; what Serve returns is in the channel.
func serve(t *testing.T, s *badserver.Server) (transport.Interface, <-chan error) {
	t.Helper()
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	result, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		result <- s.Serve(context.Background(), stdin, stdout)
	}()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return transport.NewIO(fromServer, toServer, nil), result
}

func dialInprocess(t *testing.T, s *badserver.Server) transport.Interface {
	t.Helper()
	tr, err := s.Dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return tr
}

// each runs a test over several transports, with a new server for each.
func each(t *testing.T, script badserver.Script, wires []wire, test func(*testing.T, wire, *badserver.Server, *client.Client)) {
	t.Helper()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(script)
			test(t, w, s, start(t, w.dial(t, s)))
		})
	}
}

var everywhere = []wire{overHTTP, overSSE, overStdio, overInprocess}

func start(t *testing.T, tr transport.Interface, options ...client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(tr, options...)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func initialize(t *testing.T, c *client.Client) *mcp.InitializeResult {
	t.Helper()
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	result, err := c.Initialize(soon(t), request)
	require.NoError(t, err)
	return result
}

// soon is a deadline for what does not take long; a test that meets it fails.
var soon = mcptest.Soon

// brief is cancelled before what never comes. It has no deadline, because the
// client's SSE transport returns neither a response nor an error, and panics,
// when it sees that a deadline has passed before the context does.
func brief(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(50*time.Millisecond, cancel)
	t.Cleanup(func() { timer.Stop(); cancel() })
	return ctx
}

// heard collects the methods of the notifications that a client gets.
func heard(c *client.Client) <-chan string {
	methods := make(chan string, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) { methods <- n.Method })
	return methods
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-soon(t).Done():
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func notification(method string) json.RawMessage {
	return json.RawMessage(`{"jsonrpc":"2.0","method":"` + method + `"}`)
}

func methods(requests []badserver.Request) []string {
	var out []string
	for _, request := range requests {
		out = append(out, request.Method)
	}
	return out
}

func toolNames(tools []mcp.Tool) []string {
	out := []string{}
	for _, tool := range tools {
		out = append(out, tool.Name)
	}
	return out
}

func on(method string, answers ...badserver.Answer) map[string][]badserver.Answer {
	return map[string][]badserver.Answer{method: answers}
}

// testBinary is this program, which can also be a server: see TestMain.
func testBinary(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}
