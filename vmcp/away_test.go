package vmcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whose questions these are nobody knows: they come on the stream for all calls.
func TestOneWhoAnswersWithItsNextRequestIsAskedOneThingAtATime(t *testing.T) {
	t.Parallel()
	script := onlyTools("run")
	script.Answers["tools/call"] = []badserver.Answer{{Hang: true}}
	script.Answers["GET"] = []badserver.Answer{{}}
	backend := badserver.New(script)
	s := build(t, &vmcp.Builder{Asks: anything}, vmcp.Backend{ID: "a", Connector: connect.To(overHTTP(t, backend))})
	require.NoError(t, backend.Await(soon(t), "GET", 1))
	w := waiting{make(chan struct{}), make(chan struct{})}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.CallTool(vmcp.WithPeer(ctx, vmcp.Peer{Roots: w, Away: func() bool { return false }}), callOf("a_run"))
		ended <- err
	}()
	require.NoError(t, backend.Await(soon(t), "tools/call", 1))
	require.Eventually(t, func() bool { // the stream may not be open yet
		backend.Notify(json.RawMessage(`{"jsonrpc":"2.0","id":"first","method":"roots/list"}`))
		select {
		case <-w.asked:
			return true
		default:
			return false
		}
	}, 20*time.Second, 50*time.Millisecond)
	backend.Notify(json.RawMessage(`{"jsonrpc":"2.0","id":"second","method":"roots/list"}`))
	var refused string
	require.Eventually(t, func() bool { // the first may have been put more than once
		for _, request := range backend.Requests() {
			if strings.Contains(string(request.Message), `"second"`) {
				refused = string(request.Message)
			}
		}
		return refused != ""
	}, 20*time.Second, 5*time.Millisecond)
	assert.Contains(t, refused, vmcp.ErrNoPeer.Error())
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	<-w.released
}
