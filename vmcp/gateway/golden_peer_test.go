package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// peer is what a client sees of a server: the messages as they are on the wire,
// past any client that would drop what it does not know.
type peer struct {
	t        *testing.T
	protocol string
	send     func(headers map[string]string, message []byte) (answer []byte)
	session  string // over HTTP, before protocol 2026-07-28
}

// ask returns the result or the error of a request.
func (p *peer) ask(method string, params map[string]any) map[string]any {
	p.t.Helper()
	answer := p.exchange(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": p.inEra(params)})
	delete(answer, "jsonrpc")
	delete(answer, "id")
	return answer
}

// inEra gives the parameters what the protocol has in every request.
func (p *peer) inEra(params map[string]any) map[string]any {
	if p.protocol != modern {
		return params
	}
	own, _ := params["_meta"].(map[string]any)
	meta := map[string]any{
		mcp.MetaKeyProtocolVersion: modern, mcp.MetaKeyClientCapabilities: map[string]any{},
		mcp.MetaKeyClientInfo: map[string]any{"name": "golden", "version": "1"},
	}
	for key, value := range own {
		meta[key] = value
	}
	all := map[string]any{"_meta": meta}
	for key, value := range params {
		if key != "_meta" {
			all[key] = value
		}
	}
	return all
}

func (p *peer) exchange(message map[string]any) map[string]any {
	p.t.Helper()
	body, err := json.Marshal(message)
	require.NoError(p.t, err)
	params, err := json.Marshal(message["params"])
	require.NoError(p.t, err)
	method := message["method"].(string)
	headers := mcp.StandardHeaders(p.protocol, mcp.MCPMethod(method), params)
	if headers == nil {
		headers = map[string]string{}
	}
	headers["MCP-Protocol-Version"] = p.protocol
	if arguments, ok := message["params"].(map[string]any)["arguments"].(map[string]any); ok && arguments["region"] != nil && p.protocol == modern {
		headers["Mcp-Param-Region"] = arguments["region"].(string)
	}
	answer := p.send(headers, body)
	if message["id"] == nil {
		return nil
	}
	var read map[string]any
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	require.NoErrorf(p.t, decoder.Decode(&read), "%s was answered with %q", method, answer)
	return read
}

// greet makes the handshake, where the protocol has one.
func (p *peer) greet() *peer {
	p.t.Helper()
	if p.protocol != modern {
		hello := p.ask("initialize", map[string]any{
			"protocolVersion": p.protocol, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "golden", "version": "1"},
		})
		require.Contains(p.t, hello, "result")
		p.exchange(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized", "params": map[string]any{}})
	}
	return p
}

// httpPeer asks an endpoint over HTTP.
func httpPeer(t *testing.T, protocol, url string) *peer {
	t.Helper()
	p := &peer{t: t, protocol: protocol}
	c := httpClient(t)
	p.send = func(headers map[string]string, message []byte) []byte {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(message))
		require.NoError(t, err)
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if p.session != "" {
			request.Header.Set(server.HeaderKeySessionID, p.session)
		}
		response, err := c.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if id := response.Header.Get(server.HeaderKeySessionID); id != "" {
			p.session = id
		}
		return lastEvent(body)
	}
	return p.greet()
}

// lastEvent is the answer in a stream of events, or the body itself.
func lastEvent(body []byte) []byte {
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			body = data
		}
	}
	return bytes.TrimSpace(body)
}

// stdioPeer asks over a pair of pipes.
func stdioPeer(t *testing.T, protocol string, in io.Writer, out io.Reader) *peer {
	t.Helper()
	lines := bufio.NewReader(out)
	p := &peer{t: t, protocol: protocol, send: func(_ map[string]string, message []byte) []byte {
		_, err := in.Write(append(message, '\n'))
		require.NoError(t, err)
		if !bytes.Contains(message, []byte(`"id":`)) {
			return nil
		}
		for {
			line, err := lines.ReadBytes('\n')
			require.NoError(t, err)
			if !bytes.Contains(line, []byte(`"method":`)) { // that would be a notification
				return line
			}
		}
	}}
	return p.greet()
}

// goldenProgram is the variable that makes this program the golden backend over
// stdio.
const goldenProgram = "CANDOR_GOLDEN_BACKEND"

func init() {
	if os.Getenv(goldenProgram) == "" {
		return
	}
	if err := server.NewStdioServer(goldenBackend()).Listen(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// goldenDirect asks the golden backend itself.
func (w way) goldenDirect(t *testing.T, backend string) *peer {
	t.Helper()
	if !w.stdio() {
		return httpPeer(t, w.protocol, backend)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), goldenProgram+"=1")
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // the test's context may have ended it
	})
	return stdioPeer(t, w.protocol, in, out)
}

// goldenThrough asks a gateway before the golden backend.
func (w way) goldenThrough(t *testing.T, backend string) *peer {
	t.Helper()
	var target connect.Target = connect.HTTP{URL: backend}
	if w.stdio() {
		target = connect.Stdio{Command: os.Args[0], Env: map[string]string{goldenProgram: "1"}}
	}
	g := over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: goldenID, Connector: connect.To(target, connect.WithProtocolVersion(w.protocol))}})
	if !w.stdio() {
		return httpPeer(t, w.protocol, listen(t, g))
	}
	in, out := pipes(t, g)
	return stdioPeer(t, w.protocol, in, out)
}

func (w way) stdio() bool { return strings.HasPrefix(w.name, "stdio") }

// pipes serves a gateway over stdio.
func pipes(t *testing.T, g *gateway.Gateway) (io.Writer, io.Reader) {
	t.Helper()
	in, toGateway := io.Pipe()
	fromGateway, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- g.ServeStdio(context.Background(), in, out)
	}()
	t.Cleanup(func() {
		assert.NoError(t, toGateway.Close())
		assert.NoError(t, <-served)
		assert.NoError(t, out.Close())
	})
	return toGateway, fromGateway
}

// goldenEndpoint serves the golden backend over HTTP.
func goldenEndpoint(t *testing.T) string {
	t.Helper()
	endpoint := httptest.NewServer(server.NewStreamableHTTPServer(goldenBackend()))
	t.Cleanup(endpoint.Close)
	return endpoint.URL
}
