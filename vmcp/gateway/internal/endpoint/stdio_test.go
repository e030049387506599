package endpoint_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is an endpoint that serves a pipe.
type process struct {
	*script
	t        *testing.T
	endpoint *endpoint.Endpoint
	in       *io.PipeWriter
	out      *bufio.Scanner
	from     *io.PipeReader
	served   chan error
}

func run(ctx context.Context, t *testing.T, on map[string]answer, options endpoint.Options) *process {
	t.Helper()
	in, toEndpoint := io.Pipe()
	fromEndpoint, out := io.Pipe()
	p := &process{script: scripted(on), t: t, in: toEndpoint, out: bufio.NewScanner(fromEndpoint), from: fromEndpoint, served: make(chan error, 1)}
	p.endpoint = bounded(p.script, options)
	go func() {
		err := p.endpoint.ServeStdio(ctx, in, out)
		_ = out.Close()
		p.served <- err
	}()
	t.Cleanup(func() {
		_ = toEndpoint.Close()
		_ = fromEndpoint.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.endpoint.Shutdown(ctx)
	})
	return p
}

func (p *process) say(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(p.in, line+"\n")
		require.NoError(p.t, err)
	}
}

func (p *process) line() string {
	p.out.Scan()
	return p.out.Text()
}

func (p *process) event() (e event) {
	p.t.Helper()
	line := p.line()
	require.NoError(p.t, json.Unmarshal([]byte(line), &e), "%q", line)
	return e
}

// end closes the input and returns what is left of the output.
func (p *process) end() (rest []string) {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	for p.out.Scan() {
		rest = append(rest, p.out.Text())
	}
	assert.NoError(p.t, receive(p.t, p.served))
	return rest
}

func TestStdioServesOneClient(t *testing.T) {
	t.Parallel()
	ctx := endpoint.WithIdentity(t.Context(), "me")
	p := run(ctx, t, nil, endpoint.Options{})
	p.say("", "  \t\r", hello(legacy)+"\r")
	assert.Equal(t, legacy, p.event().Result["protocolVersion"])
	side := p.client("initialize")
	assert.Equal(t, "me", side.Identity())
	assert.Zero(t, side.IdleFor(time.Now().Add(time.Hour)))
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ping)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.line())
	assert.Contains(t, receive(t, p.heard), "notifications/initialized")
	side.Notify(note("notifications/tools/list_changed", nil))
	assert.Equal(t, "notifications/tools/list_changed", p.event().Method)
	assert.Empty(t, p.end())
	assert.Same(t, side, receive(t, p.left))
}

func TestStdioRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	p := run(t.Context(), t, nil, endpoint.Options{Body: 500})
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{`{`, "null", mcp.PARSE_ERROR},
		{`[` + ping + `]`, "null", mcp.INVALID_REQUEST},
		{`{"jsonrpc":"2.0","id":4}`, "4", mcp.INVALID_REQUEST},
		{`{"jsonrpc":"2.0","id":4,"method":"x","params":3}`, "4", mcp.INVALID_PARAMS},
		{`{"jsonrpc":"2.0","id":4,"method":"x","params":{"_meta":` + meta("1999-01-01") + `}}`, "4", mcp.UNSUPPORTED_PROTOCOL_VERSION},
		{strings.Repeat("x", 501), "null", mcp.INVALID_REQUEST},
		{strings.Repeat("x", 300_000), "null", mcp.INVALID_REQUEST},
	} {
		p.say(c.line)
		line := p.line()
		assert.Contains(t, line, `"id":`+c.id+`,`)
		assert.Contains(t, line, `"code":`+itoa(c.code)+`,`)
	}
	p.say(`{"jsonrpc":"2.0","method":"x","params":3}`, `{"jsonrpc":"2.0","id":9,"result":{}}`, strings.Repeat(" ", 600)+ping)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.line(), "nobody is told about notifications and answers")
	_, err := io.WriteString(p.in, strings.Repeat("x", 600))
	require.NoError(t, err)
	go func() { _ = p.in.Close() }()
	assert.Contains(t, p.line(), "longer than 500 bytes", "even at the end")
}

func TestStdioAnswersWhatWasAskedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 10), make(chan bool)
	p := run(t.Context(), t, waiting(began, proceed), endpoint.Options{})
	_, err := io.WriteString(p.in, call+"\n"+strings.Replace(call, "7", "8", 1)) // and no line end
	require.NoError(t, err)
	go func() {
		receive(t, began)
		receive(t, began)
		close(proceed)
	}()
	assert.Len(t, p.end(), 2)
	receive(t, p.left)
}

func TestStdioDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := scripted(map[string]answer{
			"stuck": func(ctx context.Context, _ *endpoint.Request) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			"asks":  func(ctx context.Context, r *endpoint.Request) (any, error) { return nil, r.Ask(ctx, "ping", nil, nil) },
		})
		e := bounded(h, endpoint.Options{})
		var out syncBuffer
		began := time.Now()
		require.NoError(t, e.ServeStdio(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"asks"}`), &out))
		assert.Less(t, time.Since(began), time.Second, "nobody is there to answer")
		assert.Contains(t, out.String(), "cannot be asked")
		require.NoError(t, e.ServeStdio(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"stuck"}`), &out))
		assert.Equal(t, 5*time.Second, time.Since(began))
		require.NoError(t, e.Shutdown(t.Context()))
		assert.Len(t, h.left, 2)
	})
}

func TestStdioCancellationWantsNoAnswer(t *testing.T) {
	t.Parallel()
	began, done := make(chan bool, 1), make(chan *endpoint.Request, 1)
	p := run(t.Context(), t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		began <- true
		<-ctx.Done()
		r.Notify(note("notifications/message", map[string]any{"data": "late"}))
		done <- r
		return nil, nil // as if it had not noticed
	}}, endpoint.Options{})
	body, _ := the("tools/call", "")
	p.say(body)
	receive(t, began)
	p.say(cancelled(`1`))
	receive(t, done)
	p.say(ping)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.line())
	assert.Empty(t, p.end())
}

func TestStdioWaitsForInitializeButHearsMeanwhile(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 1), make(chan bool)
	p := run(t.Context(), t, map[string]answer{
		"initialize": func(ctx context.Context, r *endpoint.Request) (any, error) {
			began <- true
			<-proceed
			return &mcp.InitializeResult{ProtocolVersion: r.Client.Version()}, r.Ask(ctx, "ping", nil, nil)
		},
		"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
			return map[string]any{"version": r.Client.Version()}, nil
		},
	}, endpoint.Options{})
	p.say(hello("2025-03-26"), call, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	receive(t, began)
	receive(t, p.heard)
	close(proceed)
	question := p.event()
	assert.Equal(t, "ping", question.Method)
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, question.ID))
	assert.Equal(t, "2025-03-26", p.event().Result["protocolVersion"])
	assert.Equal(t, "2025-03-26", p.event().Result["version"])
	assert.Empty(t, p.end())
}

func TestStdioServesBothErasAtOnce(t *testing.T) {
	t.Parallel()
	p := run(t.Context(), t, map[string]answer{
		"subscriptions/listen": listening,
		"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
			return map[string]any{"v": r.Client.Version()}, nil
		},
	}, endpoint.Options{})
	p.say(hello(legacy), call)
	assert.Equal(t, legacy, p.event().Result["protocolVersion"])
	assert.Equal(t, legacy, p.event().Result["v"])
	body, _ := the("tools/call", "")
	p.say(body)
	assert.Equal(t, modern, p.event().Result["v"])
	for _, id := range []string{"10", "11"} {
		body, _ = the("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		p.say(strings.Replace(body, `"id":1,`, `"id":`+id+`,`, 1))
		assert.Equal(t, "notifications/subscriptions/acknowledged", p.event().Method)
		side := p.client("subscriptions/listen")
		defer side.Notify(note("notifications/tools/list_changed", nil)) // after the end, to nobody
		side.Notify(note("notifications/tools/list_changed", nil))
		assert.InDelta(t, map[string]float64{"10": 10, "11": 11}[id], p.event().Params["_meta"].(map[string]any)["io.modelcontextprotocol/subscriptionId"], 0)
	}
	p.say(cancelled("10"))
	rest := p.end()
	require.Len(t, rest, 1, "the cancelled one wants no answer")
	assert.Contains(t, rest[0], `"id":11,`)
	assert.Contains(t, rest[0], `"resultType":"complete"`)
}

func TestStdioEndsWithItsContextAndWithTheEndpoint(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 1), make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	p := run(ctx, t, waiting(began, nil), endpoint.Options{})
	p.say(call)
	receive(t, began)
	cancel()
	assert.InDelta(t, mcp.REQUEST_INTERRUPTED, p.event().Error["code"], 0)
	require.NoError(t, receive(t, p.served))
	receive(t, p.left)

	p = run(t.Context(), t, waiting(began, proceed), endpoint.Options{})
	p.say(call)
	receive(t, began)
	down := make(chan error, 1)
	go func() { down <- p.endpoint.Shutdown(soon(t)) }()
	refused := make(chan event, 1)
	go func() {
		for e := p.event(); ; e = p.event() {
			if e.Error != nil {
				refused <- e
				return
			}
		}
	}()
	pinging, enough := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() { // until it is down; nobody reads any more once it has ended
		for pinging.Err() == nil {
			if _, err := io.WriteString(p.in, ping+"\n"); err != nil {
				return
			}
		}
	})
	assert.Contains(t, receive(t, refused).Error["message"], "shutting down")
	enough()
	close(proceed)
	for e := p.event(); string(e.ID) != "7"; e = p.event() { // pings that were refused too
		assert.NotNil(t, e.Error)
	}
	require.NoError(t, receive(t, down))
	require.NoError(t, receive(t, p.served))
	require.NoError(t, p.in.Close())
	asking.Wait()
}

func TestStdioSaysWhyItCannotRead(t *testing.T) {
	t.Parallel()
	e := bounded(scripted(nil), endpoint.Options{})
	broken := errors.New("broken")
	assert.ErrorIs(t, e.ServeStdio(t.Context(), iotest.ErrReader(broken), io.Discard), broken)
	require.NoError(t, e.Shutdown(soon(t)))
	assert.NoError(t, e.ServeStdio(t.Context(), strings.NewReader(""), io.Discard))
}

func TestStdioClientsThatDoNotReadHoldUpNobody(t *testing.T) {
	t.Parallel()
	p := run(t.Context(), t, nil, endpoint.Options{})
	p.say(hello(legacy))
	p.line()
	side := p.client("initialize")
	for range 10_000 {
		side.Notify(note("notifications/message", map[string]any{"data": "x"}))
	}
	p.say(ping) // is read too
	require.NoError(t, p.from.Close())
}

func TestStdioClientsOfBothEras(t *testing.T) {
	t.Parallel()
	for _, version := range []string{legacy, modern} {
		p := run(t.Context(), t, nil, endpoint.Options{})
		c := client.NewClient(transport.NewIO(p.from, p.in, nil), client.WithProtocolVersion(version))
		require.NoError(t, c.Start(context.Background()))
		hello, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		assert.Equal(t, version, hello.ProtocolVersion)
		result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "t"}})
		require.NoError(t, err)
		assert.Equal(t, mcp.NewTextContent("done"), result.Content[0])
		_ = c.Close()
	}
}
