package wire_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// The tests of this file show what mcp-go v1.2.1 does by itself, then what it
// does with a Transport under it. When the first half fails, mcp-go has changed
// and this package may have less to do.

func TestMethodNotFoundInA404KeepsTheSession(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			plain, wired := plainAndWired(t, era, &script{replies: map[string]reply{"prompts/list": methodNotFound}})

			_, err := plain.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
			require.ErrorIs(t, err, transport.ErrSessionTerminated)
			require.NotErrorIs(t, err, mcp.ErrMethodNotFound)
			_, err = plain.ListTools(t.Context(), mcp.ListToolsRequest{})
			if mcp.IsModernProtocol(era) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, transport.ErrSessionTerminated, "every later call is lost")
			}

			session := wired.GetSessionId()
			_, err = wired.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
			require.ErrorIs(t, err, mcp.ErrMethodNotFound)
			require.NotErrorIs(t, err, transport.ErrSessionTerminated)
			require.ErrorContains(t, err, "Method not found: prompts/list")
			tools, err := wired.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Len(t, tools.Tools, 1)
			assert.Equal(t, session, wired.GetSessionId())
		})
	}
}

func TestA404WithoutMethodNotFoundStillEndsTheSession(t *testing.T) {
	t.Parallel()
	gone := says(404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}`)
	_, wired := plainAndWired(t, mcp.ProtocolVersion20251125, &script{replies: map[string]reply{"prompts/list": gone}})
	require.Equal(t, "session-1", wired.GetSessionId())
	_, err := wired.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
	require.ErrorIs(t, err, transport.ErrSessionTerminated)
	assert.Empty(t, wired.GetSessionId())
}

func unavailable(w http.ResponseWriter, id json.RawMessage) {
	w.Header().Set("Retry-After", "3")
	says(503, `{"message":"unavailable"}`)(w, id)
}

func TestFailedPingAndSetLevelAreNoSuccess(t *testing.T) {
	t.Parallel()
	calls := map[string]func(*testing.T, *client.Client) error{
		"ping": func(t *testing.T, c *client.Client) error { return c.Ping(t.Context()) },
		"logging/setLevel": func(t *testing.T, c *client.Client) error {
			return c.SetLevel(t.Context(), mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevelInfo}})
		},
	}
	for method, call := range calls {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			plain, wired := plainAndWired(t, mcp.ProtocolVersion20251125, &script{replies: map[string]reply{method: unavailable}})
			require.NoError(t, call(t, plain), "a 503 is a success for mcp-go")
			requireUnavailable(t, call(t, wired))
		})
	}
}

func TestFailedListIsAStatusErrorInBothEras(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			plain, wired := plainAndWired(t, era, &script{replies: map[string]reply{"tools/list": unavailable}})
			_, err := plain.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.ErrorContains(t, err, "unexpected end of JSON input", "mcp-go decodes the result that is not there")
			_, err = wired.ListTools(t.Context(), mcp.ListToolsRequest{})
			requireUnavailable(t, err)
		})
	}
}

// requireUnavailable wants the StatusError of unavailable, and each of the
// errors around it.
func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	var outer *transport.Error
	require.ErrorAs(t, err, &outer)
	var middle *url.Error
	require.ErrorAs(t, err, &middle)
	var status *wire.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, http.StatusServiceUnavailable, status.StatusCode)
	assert.Equal(t, `{"message":"unavailable"}`, status.Body)
	assert.Equal(t, 3*time.Second, status.RetryAfter)
	assert.Equal(t, "http://server.example/mcp", status.URL)
	assert.Equal(t, http.MethodPost, status.Method)
}

func TestMethodNotFoundInA503IsNoMissingMethod(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			broken := says(503, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}`)
			plain, wired := plainAndWired(t, era, &script{replies: map[string]reply{"prompts/list": broken}})
			_, err := plain.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
			require.ErrorIs(t, err, mcp.ErrMethodNotFound)
			_, err = wired.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
			require.NotErrorIs(t, err, mcp.ErrMethodNotFound)
			var status *wire.StatusError
			require.ErrorAs(t, err, &status)
		})
	}
}

func TestUnauthorizedStaysMcpGosOwnError(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			_, wired := plainAndWired(t, era, &script{replies: map[string]reply{"tools/list": says(401, `{"message":"who?"}`)}})
			_, err := wired.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.ErrorIs(t, err, transport.ErrAuthorizationRequired)
		})
	}
}

func TestFailedNotificationIsAStatusError(t *testing.T) {
	t.Parallel()
	refusing := &script{replies: map[string]reply{"notifications/initialized": says(500, "oops")}}
	base := network{"server.example": listen(t, refusing)}.base(t)
	var status *wire.StatusError
	require.ErrorAs(t, initialize(t, &wire.Transport{Base: base}), &status)
	assert.Equal(t, "oops", status.Body)
}

func TestInitializeThatFailsSaysHow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reply reply
		wired error // nil: a StatusError
	}{
		"405 with text":             {says(405, "no"), nil},
		"400 with JSON":             {says(400, `{"message":"no"}`), nil},
		"400 with a JSON-RPC error": {says(400, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600}}`), mcp.ErrInvalidRequest},
		"404 with text":             {says(404, "no"), transport.ErrLegacySSEServer},
		"404 with -32601":           {methodNotFound, mcp.ErrMethodNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := network{"server.example": listen(t, &script{replies: map[string]reply{"initialize": tt.reply}})}.base(t)
			require.ErrorIs(t, initialize(t, base), transport.ErrLegacySSEServer)
			err := initialize(t, &wire.Transport{Base: base})
			if tt.wired != nil {
				require.ErrorIs(t, err, tt.wired)
				return
			}
			var status *wire.StatusError
			require.ErrorAs(t, err, &status)
		})
	}
}

// initialize returns what the handshake of an older protocol fails with.
func initialize(t *testing.T, rt http.RoundTripper) error {
	t.Helper()
	tr, err := transport.NewStreamableHTTP("http://server.example/mcp",
		transport.WithHTTPBasicClient(&http.Client{Transport: rt}))
	require.NoError(t, err)
	c := client.NewClient(tr, client.WithProtocolVersion(mcp.ProtocolVersion20251125))
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	require.NoError(t, c.Start(t.Context()))
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	return err
}

func TestRedirectToAnotherHostCarriesNoCredentials(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			other := &script{}
			moved := func(w http.ResponseWriter, _ json.RawMessage) {
				w.Header().Set("Location", "http://other.example/mcp")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
			base := network{
				"server.example": listen(t, &script{replies: map[string]reply{"tools/call": moved}}),
				"other.example":  listen(t, other),
			}.base(t)
			call := func(rt http.RoundTripper) {
				_, _ = dial(t, era, rt).CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo"}})
			}

			call(base)
			call(&wire.Transport{Base: base})
			got := other.headers()
			require.Len(t, got, 2)
			plain, wired := got[0], got[1]
			assert.Equal(t, "sesame", plain.Get("X-Api-Key"))
			assert.NotEmpty(t, plain.Get("Mcp-Session-Id")+plain.Get("Mcp-Name"))

			assert.Equal(t, era, wired.Get("Mcp-Protocol-Version"))
			for name, values := range wired {
				assert.NotContains(t, strings.Join(values, ","), "sesame", name)
			}
			for _, name := range []string{"Mcp-Session-Id", "Mcp-Name", "Authorization", "Referer"} {
				assert.NotContains(t, wired, name)
			}
		})
	}
}

func TestTooLargeAnswerIsNamedThroughMcpGo(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			large := says(200, `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"_meta":{"x":"`+strings.Repeat("x", 4<<10)+`"}}}`)
			base := network{"server.example": listen(t, &script{replies: map[string]reply{"tools/list": large}})}.base(t)
			_, err := dial(t, era, &wire.Transport{Base: base, MaxBody: 1 << 10}).ListTools(t.Context(), mcp.ListToolsRequest{})
			var tooLarge *wire.BodyTooLargeError
			require.ErrorAs(t, err, &tooLarge)
		})
	}
}

func TestTooLargeEventFailsTheCallWithoutItsName(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			large := func(w http.ResponseWriter, id json.RawMessage) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":`+string(id)+`,"result":{"tools":[],"_meta":{"x":"`+strings.Repeat("x", 4<<10)+"\"}}}\n\n")
			}
			base := network{"server.example": listen(t, &script{replies: map[string]reply{"tools/list": large}})}.base(t)
			_, err := dial(t, era, base).ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			_, err = dial(t, era, &wire.Transport{Base: base, MaxBody: 1 << 10}).ListTools(t.Context(), mcp.ListToolsRequest{})
			require.EqualError(t, err, "transport error: unexpected nil response")
		})
	}
}

func TestOtherSuccessesAreLeftToMcpGo(t *testing.T) {
	t.Parallel()
	created := says(201, `{"message":"created"}`)
	plain, wired := plainAndWired(t, mcp.ProtocolVersion20251125, &script{replies: map[string]reply{"ping": created}})
	require.NoError(t, plain.Ping(t.Context()))
	require.NoError(t, wired.Ping(t.Context()))
}

// legacySSE is a server of the 2024 transport: GET opens the stream that names
// the endpoint, and a POST gets the given reply.
func legacySSE(post reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			post(w, m.ID)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /message\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

// initializeSSE returns what the handshake over the legacy transport fails with.
func initializeSSE(t *testing.T, rt http.RoundTripper) error {
	t.Helper()
	c, err := client.NewSSEMCPClient("http://server.example/sse", client.WithHTTPClient(&http.Client{Transport: rt}))
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context()))
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{
		Params: mcp.InitializeParams{ProtocolVersion: mcp.ProtocolVersion20241105},
	})
	require.NoError(t, c.Close())
	return err
}

func TestLegacySSE(t *testing.T) {
	t.Parallel()
	t.Run("a 404 with -32601 fails at once, as without this package", func(t *testing.T) {
		t.Parallel()
		base := network{"server.example": listen(t, legacySSE(methodNotFound))}.base(t)
		plain, wired := initializeSSE(t, base), initializeSSE(t, &wire.Transport{Base: base})
		require.ErrorContains(t, plain, "request failed with status 404")
		require.EqualError(t, wired, plain.Error())
	})
	t.Run("a 503 is a StatusError", func(t *testing.T) {
		t.Parallel()
		base := network{"server.example": listen(t, legacySSE(unavailable))}.base(t)
		require.ErrorContains(t, initializeSSE(t, base), "request failed with status 503")
		err := initializeSSE(t, &wire.Transport{Base: base})
		var status *wire.StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, "http://server.example/message", status.URL)
	})
}
