package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// eras are the two kinds of protocol: with a session, and without.
var eras = []string{mcp.ProtocolVersion20251125, mcp.ProtocolVersion20260728}

// message is what a client sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// reply answers one message; id is the message's.
type reply func(w http.ResponseWriter, id json.RawMessage)

// says replies with a status and a body, in which $ID stands for the id.
func says(status int, body string) reply {
	return func(w http.ResponseWriter, id json.RawMessage) {
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "$ID", string(id)))
	}
}

var methodNotFound = says(404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found: prompts/list"}}`)

// script is a streamable HTTP server: it speaks both eras, has one tool, and
// replies to the methods it names as they say. It keeps the headers it got.
type script struct {
	replies map[string]reply

	mu   sync.Mutex
	seen []http.Header
}

func (s *script) headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]http.Header(nil), s.seen...)
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r.Header.Clone())
	s.mu.Unlock()
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.replyTo(m)(w, m.ID)
}

func (s *script) replyTo(m message) reply {
	if own, ok := s.replies[m.Method]; ok {
		return own
	}
	switch {
	case m.Method == "initialize":
		return func(w http.ResponseWriter, id json.RawMessage) {
			w.Header().Set("Mcp-Session-Id", "session-1")
			says(200, `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"prompts":{},"tools":{}},"serverInfo":{"name":"script","version":"1"}}}`)(w, id)
		}
	case m.Method == "server/discover":
		return says(200, `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"prompts":{},"tools":{}}}}`)
	case m.Method == "tools/list":
		return says(200, `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`)
	case m.ID == nil:
		return says(202, "")
	default:
		return says(200, `{"jsonrpc":"2.0","id":$ID,"result":{}}`)
	}
}

// network lets servers have names: it dials the listener that a host stands for.
type network map[string]string

func (n network) base(t testing.TB) *http.Transport {
	t.Helper()
	base := &http.Transport{DialContext: func(ctx context.Context, kind, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		listener, ok := n[host]
		if !ok {
			return nil, fmt.Errorf("no such host: %s", host)
		}
		return (&net.Dialer{}).DialContext(ctx, kind, listener)
	}}
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// listen serves h until the test ends and returns its address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// dial initialises a mcp-go client of http://server.example/mcp over
// streamable HTTP.
func dial(t testing.TB, era string, rt http.RoundTripper) *client.Client {
	t.Helper()
	tr, err := transport.NewStreamableHTTP("http://server.example/mcp",
		transport.WithHTTPBasicClient(&http.Client{Transport: rt}),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
		transport.WithHTTPHeaders(map[string]string{"X-Api-Key": "sesame", "Authorization": "Bearer sesame"}))
	require.NoError(t, err)
	c := client.NewClient(tr, client.WithProtocolVersion(era))
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	require.NoError(t, c.Start(t.Context()))
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	require.Equal(t, era, c.ProtocolVersion())
	return c
}

// plainAndWired gives one server's client without and with this package.
func plainAndWired(t testing.TB, era string, s *script) (plain, wired *client.Client) {
	t.Helper()
	base := network{"server.example": listen(t, s)}.base(t)
	return dial(t, era, base), dial(t, era, &wire.Transport{Base: base})
}
