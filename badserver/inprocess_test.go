package badserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

func TestInprocessDelayIsExact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := badserver.Tools("a")
		late.Delay = badserver.Duration(time.Hour)
		c := start(t, dialInprocess(t, badserver.New(badserver.Script{Answers: on("tools/list", late)})))
		initialize(t, c)
		began := time.Now()
		_, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Equal(t, time.Hour, time.Since(began))
	})
}

func TestInprocessCloseReleasesACall(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("ping", badserver.Answer{Hang: true})})
	tr, other := dialInprocess(t, s), dialInprocess(t, s)
	failed := make(chan error, 1)
	go func() { failed <- call(context.Background(), tr) }()
	require.NoError(t, s.Await(soon(t), "ping", 1))
	require.NoError(t, tr.Close())
	require.NoError(t, tr.Close(), "again")
	require.ErrorIs(t, receive(t, failed), transport.ErrTransportClosed)
	require.ErrorIs(t, call(context.Background(), tr), transport.ErrTransportClosed)
	require.ErrorIs(t, tr.SendNotification(context.Background(), mcp.JSONRPCNotification{}), transport.ErrTransportClosed)
	require.ErrorIs(t, tr.Start(context.Background()), transport.ErrTransportClosed)
	require.NoError(t, other.Start(context.Background()), "the other connection lives on")
	assert.Empty(t, tr.GetSessionId())
}

func TestInprocessClosedConnectionHearsNothing(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	tr := dialInprocess(t, s)
	got := make(chan string, 10)
	tr.SetNotificationHandler(func(n mcp.JSONRPCNotification) { got <- n.Method })
	s.Notify(notification("one"))
	require.NoError(t, tr.Close())
	s.Notify(notification("two"))
	require.Len(t, got, 1)
	assert.Equal(t, "one", <-got)
}

func TestInprocessDeliversNotificationsOnly(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	tr := dialInprocess(t, s)
	s.Notify(notification("no handler yet"))
	got := make(chan string, 10)
	tr.SetNotificationHandler(func(n mcp.JSONRPCNotification) { got <- n.Method })
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `nonsense`,
		`{"jsonrpc":"2.0","method":"broken","params":[]}`, `{"jsonrpc":"2.0","method":"fine"}`,
	} {
		s.Notify(json.RawMessage(message))
	}
	require.Len(t, got, 1)
	assert.Equal(t, "fine", <-got)
}

func TestInprocessHandlerMayCallBack(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	tr := dialInprocess(t, s)
	tr.SetNotificationHandler(func(mcp.JSONRPCNotification) { assert.NoError(t, call(soon(t), tr)) })
	s.Notify(notification("news"))
	assert.Equal(t, 1, s.Count("ping"))
}

func TestInprocessNotificationWaitsLikeAPost(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("note", badserver.Answer{Hang: true})})
	note := mcp.JSONRPCNotification{JSONRPC: "2.0", Notification: mcp.Notification{Method: "note"}}
	err := dialInprocess(t, s).SendNotification(brief(t), note)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, s.Count("note"))
}

func TestInprocessDialRefused(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Dial(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
	_, err = s.Dial(context.Background())
	require.ErrorIs(t, err, transport.ErrTransportClosed)
}

func call(ctx context.Context, tr transport.Interface) error {
	_, err := tr.SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: "2.0", ID: mcp.NewRequestId(int64(1)), Method: "ping",
	})
	return err
}
