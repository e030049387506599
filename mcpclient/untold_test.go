package mcpclient_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overWire is a chain over mcp-go's own transport with wire beneath, without a
// middleware.
func overWire(t *testing.T, protocol string, answers map[string][]badserver.Answer) *mcpclient.Client {
	t.Helper()
	script := badserver.New(badserver.Script{Protocol: protocol, Capabilities: json.RawMessage(`{"tools":{}}`), Answers: answers})
	server := httptest.NewServer(script)
	t.Cleanup(server.Close)
	t.Cleanup(func() { _ = script.Close() })
	through := &http.Client{Transport: &wire.Transport{Base: server.Client().Transport, MaxBody: 4 << 10}}
	over, err := transport.NewStreamableHTTP(server.URL, transport.WithHTTPBasicClient(through))
	require.NoError(t, err)
	inner := client.NewClient(over, client.WithProtocolVersion(protocol))
	require.NoError(t, inner.Start(t.Context()))
	c := mcpclient.Wrap(inner)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	return c
}

var (
	eras     = []string{mcp.ProtocolVersion20251125, mcp.ProtocolVersion20260728}
	framings = map[string]bool{"JSON": false, "events": true}
)

// mcp-go v1.2.1 makes an empty list of a missing one on protocol 2026-07-28 over
// HTTP, so nobody above could tell.
func TestAListOfToolsThatIsMissingIsAnErrorWithWireBeneath(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		for framing, events := range framings {
			for result, isList := range map[string]bool{
				`{}`: false, `{"tools":null}`: false, `{"error":{"code":-32601}}`: false, `{"tools":[]}`: true,
			} {
				t.Run(era+" "+framing+" "+result, func(t *testing.T) {
					t.Parallel()
					answer := badserver.Answer{Result: json.RawMessage(result), SSE: events}
					c := overWire(t, era, map[string][]badserver.Answer{"tools/list": {answer}})
					whole, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
					page, failed := c.ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
					if isList {
						require.NoError(t, err)
						require.NoError(t, failed)
						return
					}
					require.ErrorIs(t, err, mcpclient.ErrMalformedList)
					require.ErrorIs(t, failed, mcpclient.ErrMalformedList)
					assert.Nil(t, whole)
					assert.Nil(t, page)
				})
			}
		}
	}
}

func TestAPageWithoutItsListIsAnErrorOfTheWhole(t *testing.T) {
	t.Parallel()
	c := overWire(t, mcp.ProtocolVersion20260728, map[string][]badserver.Answer{"tools/list": {
		badserver.Tools("a").AtCursor("").WithNext("2"),
		badserver.Answer{Result: json.RawMessage(`{"nextCursor":"3"}`)}.AtCursor("2"),
		badserver.Tools("c").AtCursor("3"),
	}})
	_, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.ErrorIs(t, err, mcpclient.ErrMalformedList)
}

// Of an event stream that breaks off mcp-go v1.2.1 says "unexpected nil response".
func TestWhatBreaksOffAnEventStreamIsAnErrorWithItsType(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(mcp.NewToolResultText(string(make([]byte, 8<<10))))
	require.NoError(t, err)
	for _, era := range eras {
		for framing, events := range framings {
			t.Run(era+" "+framing, func(t *testing.T) {
				t.Parallel()
				stolen := badserver.Answer{Result: json.RawMessage(`{"content":[]}`), ID: json.RawMessage(`999999`), SSE: events}
				c := overWire(t, era, map[string][]badserver.Answer{"tools/call": {stolen.Once(), {Result: long, SSE: events}}})
				var broken *transport.Error
				_, err := c.CallTool(t.Context(), mcp.CallToolRequest{})
				var mismatch *wire.MismatchError
				require.ErrorAs(t, err, &mismatch)
				require.ErrorAs(t, err, &broken)
				_, err = c.CallTool(t.Context(), mcp.CallToolRequest{})
				var tooLarge *wire.BodyTooLargeError
				require.ErrorAs(t, err, &tooLarge)
				require.ErrorAs(t, err, &broken)
			})
		}
	}
}
