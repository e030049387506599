package vmcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shop is a server over HTTP with sessions, which it forgets when told to.
// Its tool "look" is read-only, "again" is idempotent, and "buy" is neither.
type shop struct {
	*badserver.Server
	endpoint *httptest.Server
	// held, once set, holds every initialize until it is closed.
	held atomic.Pointer[chan struct{}]
}

func newShop(t *testing.T, change func(*badserver.Script)) (vmcp.Backend, *shop) {
	t.Helper()
	script := serving("shop")
	script.Session, script.Protocol = true, legacy
	object := map[string]any{"type": "object"}
	script.Answers["tools/list"] = []badserver.Answer{badserver.Result(map[string]any{"tools": []any{
		map[string]any{"name": "look", "inputSchema": object, "annotations": map[string]any{"readOnlyHint": true}},
		map[string]any{"name": "again", "inputSchema": object, "annotations": map[string]any{"idempotentHint": true}},
		map[string]any{"name": "buy", "inputSchema": object, "annotations": map[string]any{"readOnlyHint": false}},
	}})}
	if change != nil {
		change(&script)
	}
	f := &shop{Server: badserver.New(script)}
	f.endpoint = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() { _ = f.Close(); f.endpoint.Close() })
	return vmcp.Backend{ID: "shop", Connector: connect.To(connect.HTTP{URL: f.endpoint.URL}, connect.WithProtocolVersion(legacy))}, f
}

func (f *shop) serve(w http.ResponseWriter, r *http.Request) {
	if held := f.held.Load(); held != nil && r.Method == http.MethodPost && r.Header.Get(mcp.HeaderSessionID) == "" {
		select {
		case <-*held:
		case <-r.Context().Done():
			return
		}
	}
	f.ServeHTTP(w, r)
}

// forget ends all sessions.
func (f *shop) forget(t *testing.T) {
	t.Helper()
	ids := map[string]bool{}
	for _, request := range f.Requests() {
		ids[request.Connection] = true
	}
	for id := range ids {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, f.endpoint.URL, nil)
		require.NoError(t, err)
		request.Header.Set(mcp.HeaderSessionID, id)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
}

func TestAForgottenSessionIsRenewedOnce(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, nil)
	var log mcptest.Journal
	session := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)
	heard := listen(session)
	server.forget(t)
	hold := make(chan struct{})
	server.held.Store(&hold)

	const each = 8 // of four requests: 32 callers
	var callers sync.WaitGroup
	for _, do := range []func(context.Context, *vmcp.Session) (string, error){
		callTool("shop_look"), callTool("shop_again"), readResource("res://shop"), getPrompt("shop_greet"),
	} {
		for range each {
			callers.Go(func() {
				text, err := do(t.Context(), session)
				if assert.NoError(t, err) {
					assert.Equal(t, "shop", text)
				}
			})
		}
	}
	refused, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	<-refused.Done() // they all wait by then, or come later and find the same
	_, err := session.CallTool(refused, callOf("shop_look"))
	require.ErrorIs(t, err, context.DeadlineExceeded, "a call waits within its context")
	close(hold)
	callers.Wait()

	assert.Equal(t, 2, server.Count("initialize"))
	assert.Equal(t, 2, server.Count("tools/list"))
	assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
	changes, states := heard.take()
	assert.Empty(t, changes)
	assert.Empty(t, states, "nobody lost anything")
	assert.Equal(t, []string{"shop backend_ready"}, events(t, &log))
}

func TestACallThatMayDoHarmTwiceIsNotSentAgain(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, nil)
	session := build(t, &vmcp.Builder{}, backend)
	server.forget(t)
	_, err := session.CallTool(t.Context(), callOf("shop_buy"))
	var interrupted *vmcp.NotRepeatedError
	require.ErrorAs(t, err, &interrupted)
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	assert.Equal(t, "shop_buy", interrupted.Tool)
	for _, part := range []string{`backend "shop"`, `"shop_buy"`, "was not sent again", "not marked as read-only or idempotent"} {
		assert.Contains(t, err.Error(), part)
	}
	assert.Zero(t, server.Count("tools/call")-1)

	text, err := callTool("shop_buy")(t.Context(), session)
	require.NoError(t, err)
	assert.Equal(t, "shop", text)
	assert.Equal(t, 2, server.Count("tools/call"))
	assert.Equal(t, 2, server.Count("initialize"))
}

func TestARequestIsSentAgainOnlyOnce(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, func(script *badserver.Script) {
		script.Answers["resources/read"] = []badserver.Answer{badserver.Plain(404, "Session not found")}
	})
	backend.Retry.Initial, backend.Retry.Max = time.Hour, time.Hour
	session := build(t, &vmcp.Builder{}, backend)
	_, err := readResource("res://shop")(t.Context(), session)
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	assert.Equal(t, 2, server.Count("resources/read"))
	assert.Equal(t, 2, server.Count("initialize"))

	// The new session was forgotten before it was of any use: the next one waits for its time.
	_, err = callTool("shop_look")(t.Context(), session)
	var unavailable *vmcp.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	assert.Equal(t, vmcp.Failed, unavailable.Backend.State)
	assert.Equal(t, 2, server.Count("initialize"))
}

// A session that was of use for a while is renewed again, and what lost it twice is
// not sent a third time.
func TestASessionThatLastedIsRenewedAndTheRequestIsNotSentOnAndOn(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, func(script *badserver.Script) {
		script.Answers["resources/read"] = []badserver.Answer{badserver.Plain(404, "Session not found")}
	})
	backend.Retry.Initial, backend.Retry.Max = 1, 1 // any while is longer
	session := build(t, &vmcp.Builder{}, backend)
	heard, since := listen(session), session.Report().Backends[0].Since
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := readResource("res://shop")(ctx, session)
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	assert.Equal(t, 2, server.Count("resources/read"))
	_, err = callTool("shop_look")(ctx, session)
	require.NoError(t, err)
	assert.Equal(t, 3, server.Count("initialize"))
	_, states := heard.take()
	assert.Empty(t, states)
	assert.Equal(t, since, session.Report().Backends[0].Since, "it was ready all the time")
}

func TestASessionThatCannotBeRenewed(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, func(script *badserver.Script) {
		script.Answers["tools/list"] = []badserver.Answer{script.Answers["tools/list"][0].Once(), databaseDown}
	})
	session := build(t, &vmcp.Builder{}, backend)
	server.forget(t)
	_, err := callTool("shop_look")(t.Context(), session)
	var unavailable *vmcp.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.ErrorIs(t, err, mcp.ErrInternalError)
	assert.Equal(t, 1, unavailable.Backend.Attempts)
	assert.Equal(t, 3, unavailable.Backend.Tools, "the last good lists")
}

// A server without sessions has none to forget: its 404 is a failure like others.
func TestA404WithoutASession(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, func(script *badserver.Script) {
		script.Session = false
		script.Answers["tools/call"] = []badserver.Answer{badserver.Plain(404, "no such route")}
	})
	session := build(t, &vmcp.Builder{}, backend)
	for range 4 {
		_, err := callTool("shop_look")(t.Context(), session)
		require.ErrorIs(t, err, transport.ErrSessionTerminated)
	}
	assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
	assert.Equal(t, 1, server.Count("initialize"))
	_, err := callTool("shop_look")(t.Context(), session)
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	assert.Equal(t, vmcp.Failed, session.Report().Backends[0].State)
}
