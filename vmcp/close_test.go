package vmcp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var allUses = []func(context.Context, *vmcp.Session) (string, error){
	callTool("one_alpha"), getPrompt("one_greet"), readResource("res://one"), complete(mcp.PromptReference{Type: "ref/prompt", Name: "one_greet"}),
}

func TestCloseBesideCallsInFlight(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := serving("one")
		script.Session = true
		methods := []string{"tools/call", "prompts/get", "resources/read", "completion/complete"}
		for _, method := range methods {
			script.Answers[method] = []badserver.Answer{{Hang: true}}
		}
		backend, scripted := l.serve(t, "one", script)
		session := build(t, &vmcp.Builder{}, backend)
		const each = 8 // of the four methods: 32 calls
		ended := make(chan error, each*len(allUses))
		for _, do := range allUses {
			for range each {
				go func() {
					_, err := do(context.Background(), session)
					ended <- err
				}()
			}
		}
		for _, method := range methods {
			require.NoError(t, scripted.Await(soon(t), method, each))
		}
		closed := make(chan error, 3)
		for range cap(closed) {
			go func() { closed <- session.Close() }()
		}
		for range cap(closed) {
			require.NoError(t, <-closed)
		}
		for range cap(ended) {
			err := <-ended
			require.ErrorIs(t, err, vmcp.ErrClosed)
			var broken *transport.Error
			require.ErrorAs(t, err, &broken)
			assert.Contains(t, err.Error(), `backend "one"`)
		}
	})
}

func TestCallsAfterClose(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		backend, scripted := l.serve(t, "one", serving("one"))
		session := build(t, &vmcp.Builder{}, backend)
		require.NoError(t, session.Close())
		before := len(scripted.Requests())
		for _, do := range allUses {
			_, err := do(t.Context(), session)
			require.ErrorIs(t, err, vmcp.ErrClosed)
		}
		assert.Len(t, scripted.Requests(), before, "nothing is sent any more")
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
		assert.Len(t, session.Tools(), 2)
	})
}

// mcp-go's own in-process transport goes on after Close, and lets calls run.
func TestCloseWhereTheTransportGoesOn(t *testing.T) {
	t.Parallel()
	called := make(chan struct{})
	inner := server.NewMCPServer("inner", "1")
	inner.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	session := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "one", Connector: connect.To(connect.InProcess{Server: inner})})
	ended := make(chan error)
	go func() {
		_, err := session.CallTool(context.Background(), callOf("one_wait"))
		ended <- err
	}()
	<-called
	require.NoError(t, session.Close())
	require.ErrorIs(t, <-ended, vmcp.ErrClosed)
	_, err := session.CallTool(t.Context(), callOf("one_wait"))
	require.ErrorIs(t, err, vmcp.ErrClosed)
	_, err = session.Refresh(t.Context(), "one")
	require.ErrorIs(t, err, vmcp.ErrClosed)
	require.ErrorIs(t, session.Probe(t.Context(), "one"), vmcp.ErrClosed)
}

type unclosable struct{ transport.Interface }

var errUnclosable = errors.New("it does not close")

func (u unclosable) Close() error { return errors.Join(u.Interface.Close(), errUnclosable) }

type unclosableTarget struct{ *badserver.Server }

func (u unclosableTarget) Dial(ctx context.Context) (transport.Interface, error) {
	inner, err := u.Server.Dial(ctx)
	return unclosable{inner}, err
}

func TestCloseNamesTheBackendsThatDoNotClose(t *testing.T) {
	t.Parallel()
	good, open := hook(t, "good", honest(), nil)
	bad := vmcp.Backend{ID: "bad", Connector: connect.To(unclosableTarget{badserver.New(honest())})}
	failed, _ := hook(t, "failed", answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "")), nil)
	session, err := new(vmcp.Builder).Build(t.Context(), []vmcp.Backend{bad, good, failed})
	require.NoError(t, err)

	err = session.Close()
	require.ErrorIs(t, err, errUnclosable)
	assert.Contains(t, err.Error(), `close backend "bad"`)
	assert.NotContains(t, err.Error(), `"good"`)
	_, still := open.open()
	assert.Zero(t, still, "the others are closed all the same")
	assert.Equal(t, err, session.Close(), "closing again returns the first error")
	assert.Equal(t, 1, open.closes, "and closes nothing again")
}
