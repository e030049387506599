package mcpclient_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handshake is what a server with prompts says.
func handshake() *mcp.InitializeResult {
	result := &mcp.InitializeResult{ProtocolVersion: "2025-06-18", ServerInfo: mcp.Implementation{Name: "acme", Version: "1.2.3"}}
	result.Capabilities.Prompts = &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{}
	return result
}

// greeting answers Initialize with a new handshake.
func greeting(_ context.Context, op string, _ any) (any, error) {
	if op == "Initialize" {
		return handshake(), nil
	}
	return nil, nil
}

// inProcess is mcp-go's own client, started, of its own server with tools.
func inProcess(t *testing.T, options ...client.ClientOption) *client.Client {
	t.Helper()
	c, err := client.NewInProcessClientWithOptions(server.NewMCPServer("acme", "1.2.3", server.WithToolCapabilities(true)), options...)
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestTheHandshakeIsUnknownBeforeAndKnownAfterInitialize(t *testing.T) {
	t.Parallel()
	var seen recorder
	c := mcpclient.Wrap(&fake{answer: greeting}, seen.middleware)

	require.NoError(t, c.Ping(t.Context()))
	before, known := seen.calls()[0].Server()
	assert.False(t, known)
	assert.Nil(t, before)

	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	require.NoError(t, c.Ping(t.Context()))
	after, known := seen.calls()[2].Server()
	assert.True(t, known)
	assert.Equal(t, handshake(), after)
	same, known := c.Server()
	assert.True(t, known)
	assert.Same(t, after, same)
}

func TestTheCallersChangesOfTheResultDoNotChangeTheHandshake(t *testing.T) {
	t.Parallel()
	c := mcpclient.Wrap(&fake{answer: greeting})
	result, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)

	result.Capabilities.Prompts = nil
	result.ServerInfo.Name = "changed"

	kept, known := c.Server()
	assert.True(t, known)
	assert.Equal(t, handshake(), kept)
}

func TestAFailedInitializeLeavesTheHandshakeAsItWas(t *testing.T) {
	t.Parallel()
	var failing bool
	c := mcpclient.Wrap(&fake{answer: func(ctx context.Context, op string, request any) (any, error) {
		if failing {
			return &mcp.InitializeResult{ProtocolVersion: "from a failure"}, errors.New("failed")
		}
		return greeting(ctx, op, request)
	}})

	failing = true
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.EqualError(t, err, "failed")
	_, known := c.Server()
	assert.False(t, known, "still unknown")

	failing = false
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	failing = true
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.EqualError(t, err, "failed")
	kept, known := c.Server()
	assert.True(t, known, "still known")
	assert.Equal(t, handshake(), kept)
}

func TestAHandshakeThatAMiddlewareMadeUpIsNotKnown(t *testing.T) {
	t.Parallel()
	c := mcpclient.Wrap(&fake{}, answering(handshake(), nil))

	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})

	require.NoError(t, err)
	_, known := c.Server()
	assert.False(t, known)
}

func TestTheHandshakeOfAClientThatWasInitialisedBefore(t *testing.T) {
	t.Parallel()
	for _, version := range []string{mcp.LATEST_PROTOCOL_VERSION, "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			inner := inProcess(t, client.WithProtocolVersion(version))
			before := mcpclient.Wrap(inner)
			_, known := before.Server()
			assert.False(t, known, "not yet")

			_, err := inner.Initialize(t.Context(), mcp.InitializeRequest{})
			require.NoError(t, err)

			for _, wrapped := range []*mcpclient.Client{before, mcpclient.Wrap(inner)} {
				said, known := wrapped.Server()
				require.True(t, known)
				assert.Equal(t, version, said.ProtocolVersion)
				assert.NotNil(t, said.Capabilities.Tools)
				assert.Nil(t, said.Capabilities.Prompts)
			}
		})
	}
	t.Run("a client with a session counts as initialised but knows of no handshake", func(t *testing.T) {
		t.Parallel()
		inner := inProcess(t, client.WithSession())
		require.True(t, inner.IsInitialized())
		_, known := mcpclient.Wrap(inner).Server()
		assert.False(t, known)
	})
}

func TestTheHandshakeIsKnownThroughNestedWraps(t *testing.T) {
	t.Parallel()
	t.Run("initialised through the outer client", func(t *testing.T) {
		t.Parallel()
		middle := mcpclient.Wrap(&fake{answer: greeting}, pass)
		outer := mcpclient.Wrap(middle, pass)
		_, err := outer.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		for _, c := range []*mcpclient.Client{middle, outer} {
			said, known := c.Server()
			assert.True(t, known)
			assert.Equal(t, handshake(), said)
		}
	})
	t.Run("initialised before the outer client was made", func(t *testing.T) {
		t.Parallel()
		middle := mcpclient.Wrap(&fake{answer: greeting}, pass)
		_, err := middle.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		said, known := mcpclient.Wrap(middle, pass).Server()
		assert.True(t, known)
		assert.Equal(t, handshake(), said)
	})
	t.Run("initialised at the innermost client, past the first wrap", func(t *testing.T) {
		t.Parallel()
		inner := inProcess(t)
		middle := mcpclient.Wrap(inner, pass)
		_, err := inner.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		said, known := mcpclient.Wrap(middle, pass).Server()
		require.True(t, known)
		assert.NotNil(t, said.Capabilities.Tools)
	})
	t.Run("initialised at the first wrap, past the second", func(t *testing.T) {
		t.Parallel()
		first := mcpclient.Wrap(&fake{answer: greeting}, pass)
		second := mcpclient.Wrap(first, pass)
		_, err := first.Initialize(t.Context(), mcp.InitializeRequest{})
		require.NoError(t, err)
		said, known := mcpclient.Wrap(second, pass).Server()
		assert.True(t, known)
		assert.Equal(t, handshake(), said)
	})
}

func TestACallThatBelongsToNoClientKnowsNoServer(t *testing.T) {
	t.Parallel()
	_, known := mcpclient.Call{}.Server()
	assert.False(t, known)
}

// TestManyGoroutinesMayUseOneClient is about the race detector; the counts
// show that no call got lost.
func TestManyGoroutinesMayUseOneClient(t *testing.T) {
	t.Parallel()
	const goroutines = 64
	var seen recorder
	inner := &fake{answer: func(ctx context.Context, op string, request any) (any, error) {
		if op == "CallTool" {
			return &mcp.CallToolResult{}, nil
		}
		return greeting(ctx, op, request)
	}}
	c := mcpclient.Wrap(inner, seen.middleware, pass)
	start := make(chan struct{})
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			<-start
			result, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
			if assert.NoError(t, err) {
				result.ServerInfo.Name = "changed" // the caller's own
			}
			_, err = c.CallTool(t.Context(), mcp.CallToolRequest{})
			assert.NoError(t, err)
			assert.NoError(t, c.Ping(t.Context()))
			said, known := c.Server()
			assert.True(t, known)
			assert.Equal(t, "acme", said.ServerInfo.Name)
		})
	}
	close(start)
	running.Wait()
	assert.Len(t, seen.calls(), 3*goroutines)
	assert.Len(t, inner.calls(), 3*goroutines)
}
