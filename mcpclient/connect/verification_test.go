package connect_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheDefaultVerification(t *testing.T) {
	t.Parallel()
	advertising := func(protocol, capabilities string) badserver.Script {
		return badserver.Script{Protocol: protocol, Capabilities: json.RawMessage(capabilities)}
	}
	var older = []string{"server/discover", "initialize", "notifications/initialized"}
	for name, test := range map[string]struct {
		script badserver.Script
		asked  []string
	}{
		"asks for tools": {
			with(advertising(modern, `{"tools":{},"prompts":{},"resources":{}}`), "tools/list", badserver.Tools()),
			[]string{"server/discover", "tools/list"}},
		"asks for prompts where there are no tools": {
			with(advertising(modern, `{"prompts":{},"resources":{}}`), "prompts/list", badserver.Prompts()),
			[]string{"server/discover", "prompts/list"}},
		"asks for resources where there is nothing else": {
			with(advertising(modern, `{"resources":{}}`), "resources/list", badserver.Resources()),
			[]string{"server/discover", "resources/list"}},
		"asks nothing where there is nothing to ask for": {
			advertising(modern, `{"completions":{}}`), []string{"server/discover"}},
		"asks for one page only": {
			with(advertising(modern, `{"tools":{}}`), "tools/list", badserver.Tools("a").WithNext("more")),
			[]string{"server/discover", "tools/list"}},
		"asks nothing on 2025-11-25": {advertising(legacy, `{"tools":{}}`), older},
		"asks nothing on 2025-06-18": {advertising(mcp.ProtocolVersion20250618, `{"tools":{}}`), older},
		"takes method not found for an answer": {
			advertising(modern, `{"tools":{}}`), []string{"server/discover", "tools/list"}},
		"takes any JSON-RPC error for an answer": {
			with(advertising(modern, `{"tools":{}}`), "tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "broken")),
			[]string{"server/discover", "tools/list"}},
		"takes a malformed list for an answer": {
			with(advertising(modern, `{"tools":{}}`), "tools/list", badserver.Answer{Result: json.RawMessage(`{"tools":7}`)}),
			[]string{"server/discover", "tools/list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(test.script)
			c, err := connect.Open(soon(t), s)
			require.NoError(t, err)
			require.NoError(t, c.Close())
			assert.Equal(t, test.asked, asked(s))
		})
	}
}

func TestTheDefaultVerificationTakesMethodNotFoundOverHTTPToo(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Protocol: modern, Capabilities: onlyTools})
	c, err := connect.Open(soon(t), connect.HTTP{URL: overHTTP(t, s).URL})
	require.NoError(t, err)
	assert.NoError(t, c.Close())
}

func TestWhatVerifiesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer badserver.Answer
		cause  error
		took   time.Duration
	}{
		"no answer in time":         {badserver.Answer{Hang: true}, context.DeadlineExceeded, 3 * time.Second},
		"a connection that breaks":  {badserver.Answer{Cut: true}, io.ErrUnexpectedEOF, 0},
		"an answer that is no JSON": {badserver.Plain(200, "<html>"), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, log := badserver.New(with(honest(modern), "tools/list", test.answer)), &mcptest.Journal{}
				defer s.Close()
				target := &counted{Target: s}
				connector := connect.To(target, connect.WithLogger(log.Logger()), connect.WithTimeouts(connect.Timeouts{Verification: 3 * time.Second}))
				began := time.Now()
				_, err := connector.Open(t.Context())

				var failed *connect.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, "first request", failed.Stage)
				if test.cause != nil {
					require.ErrorIs(t, err, test.cause)
				}
				assert.Equal(t, test.took, time.Since(began))
				assert.EqualValues(t, 1, target.dials.Load())
				assert.Zero(t, target.open.Load())
				assert.Empty(t, log.Records())
			})
		})
	}
}

// listsResources is a verification of its own.
func listsResources(ctx context.Context, c *mcpclient.Client) error {
	_, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	return err
}

func TestTheCallersVerificationIsTheOnlyRequest(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string][]string{
		modern: {"server/discover", "resources/list"},
		legacy: {"server/discover", "initialize", "notifications/initialized", "resources/list"},
	} {
		s := badserver.New(with(honest(protocol), "resources/list", badserver.Resources("file:///a")))
		var verified *mcpclient.Client
		c, err := connect.To(s).OpenVerifying(soon(t), func(ctx context.Context, c *mcpclient.Client) error {
			verified = c
			return listsResources(ctx, c)
		})
		require.NoError(t, err)
		assert.Same(t, verified, c)
		require.NoError(t, c.Close())
		assert.Equal(t, want, asked(s))
	}
}

func TestTheCallersVerificationRunsAgainOnAnOlderProtocol(t *testing.T) {
	t.Parallel()
	s, log := badserver.New(fickle()), &mcptest.Journal{}
	target := &counted{Target: s}
	var verified []string
	c, err := connect.To(target, connect.WithLogger(log.Logger())).OpenVerifying(soon(t), func(ctx context.Context, c *mcpclient.Client) error {
		known, _ := c.Server()
		verified = append(verified, known.ProtocolVersion)
		_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, []string{modern, legacy}, verified)
	assert.EqualValues(t, 1, target.open.Load())
	requireFallbacks(t, log, 1)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"server/discover", "tools/list", "initialize", "notifications/initialized", "tools/list"}, asked(s))
}

func TestTheVerificationsOwnErrorEndsTheConnection(t *testing.T) {
	t.Parallel()
	unhappy := errors.New("not what I wanted")
	for _, protocol := range []string{legacy, modern} {
		target := &counted{Target: badserver.New(honest(protocol))}
		_, err := connect.To(target).OpenVerifying(soon(t), func(context.Context, *mcpclient.Client) error { return unhappy })
		var failed *connect.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "first request", failed.Stage)
		assert.Same(t, unhappy, failed.Err)
		assert.EqualValues(t, 1, target.dials.Load())
		assert.Zero(t, target.open.Load())
	}
}

func TestTheVerificationIsBoundByTheCallersContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := badserver.New(with(honest(modern), "tools/list", badserver.Answer{Hang: true}))
		defer s.Close()
		target := &counted{Target: s}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := connect.To(target).Open(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Zero(t, target.open.Load())
	})
}
