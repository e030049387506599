package connect_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/require"
)

func TestAToolsListWithoutAListIsAnErrorOverEveryTransport(t *testing.T) {
	t.Parallel()
	for transport, link := range map[string]struct {
		eras []string
		to   func(*testing.T, badserver.Script) connect.Target
	}{
		"HTTP":  {[]string{legacy, modern}, answeringly["over HTTP"]},
		"stdio": {[]string{legacy, modern}, answeringly["over stdio"]},
		"HTTP+SSE": {[]string{legacy}, func(t *testing.T, script badserver.Script) connect.Target {
			return connect.SSE{URL: overSSE(t, badserver.New(script)).URL}
		}},
	} {
		for _, era := range link.eras {
			for _, result := range []string{`{}`, `{"tools":null}`, `{"error":{"code":-32601}}`} {
				t.Run(transport+" "+era+" "+result, func(t *testing.T) {
					t.Parallel()
					none := badserver.Answer{Result: json.RawMessage(result)}
					c, err := connect.Open(soon(t), link.to(t, with(honest(era), "tools/list", badserver.Tools("a").Once(), none)))
					require.NoError(t, err)
					defer func() { require.NoError(t, c.Close()) }()
					if !mcp.IsModernProtocol(era) { // there nothing was asked yet
						_, err = c.ListTools(soon(t), mcp.ListToolsRequest{})
						require.NoError(t, err)
					}
					_, err = c.ListTools(soon(t), mcp.ListToolsRequest{})
					require.ErrorIs(t, err, mcpclient.ErrMalformedList)
				})
			}
		}
	}
}

// A server of protocol 2026-07-28 may refuse the initialize that mcp-go sends
// after a probe that wanted a login, for another reason.
func TestALoginThatTheProbeNeededIsWhatTheCallerLearns(t *testing.T) {
	t.Parallel()
	server := badserver.New(badserver.Script{Protocol: mcp.ProtocolVersion20260728, Answers: map[string][]badserver.Answer{
		"server/discover": {badserver.Plain(401, "who are you?")},
		"initialize":      {badserver.Fail(mcp.HEADER_MISMATCH, "Mcp-Method is missing").WithStatus(400)},
	}})
	endpoint := httptest.NewServer(server)
	defer endpoint.Close()
	defer server.Close()
	_, err := connect.Open(t.Context(), connect.HTTP{URL: endpoint.URL})
	require.ErrorIs(t, err, transport.ErrAuthorizationRequired)
	require.ErrorContains(t, err, "check the headers, such as Authorization")
	require.Equal(t, 1, server.Count("server/discover"), "and nothing is tried again")
}
