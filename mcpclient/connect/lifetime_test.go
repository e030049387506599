package connect_test

import (
	"context"
	"errors"
	"net/http"
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

func TestTheClientOutlivesTheContextOfItsOpening(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(*testing.T) connect.Target{
		"HTTP on 2025-11-25": func(t *testing.T) connect.Target {
			return connect.HTTP{URL: overHTTP(t, badserver.New(honest(legacy))).URL}
		},
		"HTTP on 2026-07-28": func(t *testing.T) connect.Target {
			return connect.HTTP{URL: overHTTP(t, badserver.New(honest(modern))).URL}
		},
		"SSE": func(t *testing.T) connect.Target {
			return connect.SSE{URL: overSSE(t, badserver.New(honest(legacy))).URL}
		},
		"stdio":      func(t *testing.T) connect.Target { return newLeash(t).stdio(t, "server", honest(legacy)) },
		"in-process": func(*testing.T) connect.Target { return connect.InProcess{Server: realServer()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(soon(t))
			c, err := connect.Open(ctx, target(t))
			require.NoError(t, err)
			cancel()
			assert.Len(t, toolsOf(t, c), 1)

			require.NoError(t, c.Close())
			require.NoError(t, c.Close(), "closing is idempotent")
		})
	}
}

func TestATransportLivesUntilItIsClosed(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(soon(t), key{}, "kept"))
	target := &counted{Target: badserver.New(honest(legacy))}
	c, err := connect.Open(ctx, target)
	require.NoError(t, err)
	cancel()
	life := *target.life.Load()
	require.NoError(t, life.Err())
	assert.Equal(t, "kept", life.Value(key{}))
	require.NoError(t, c.Close())
	assert.ErrorIs(t, life.Err(), context.Canceled)
}

func TestCancellingTheOpeningEndsItAtOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"server/discover", "initialize", "tools/list"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := honest(legacy)
				if method == "tools/list" {
					script = honest(modern)
				}
				s, log := badserver.New(with(script, method, badserver.Answer{Hang: true})), &mcptest.Journal{}
				defer s.Close()
				target := &counted{Target: s}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					_ = s.Await(t.Context(), method, 1)
					cancel()
				}()
				began := time.Now()
				_, err := connect.To(target, connect.WithLogger(log.Logger())).Open(ctx)
				require.ErrorIs(t, err, context.Canceled)
				assert.Zero(t, time.Since(began))
				assert.EqualValues(t, 1, target.dials.Load())
				assert.Zero(t, target.open.Load())
				assert.Empty(t, log.Records())
			})
		})
	}
}

func TestTheCallersDeadlineWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := badserver.New(with(mute(), "initialize", badserver.Answer{Hang: true}))
		defer s.Close()
		target, log := &counted{Target: s}, &mcptest.Journal{}
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		began := time.Now()
		_, err := connect.To(target, connect.WithLogger(log.Logger())).Open(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 7*time.Second, time.Since(began))
		assert.EqualValues(t, 1, target.dials.Load())
		assert.Empty(t, log.Records())
	})
}

func TestAContextThatHasEndedOpensNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	programs := newLeash(t)
	s := badserver.New(honest(legacy))
	for name, target := range map[string]connect.Target{
		"stdio":    programs.stdio(t, "server", honest(legacy)),
		"HTTP":     connect.HTTP{URL: overHTTP(t, s).URL},
		"SSE":      connect.SSE{URL: overSSE(t, s).URL},
		"scripted": s,
	} {
		_, err := connect.Open(ctx, target)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	assert.Empty(t, asked(s))
	started, _ := programs.seen("server")
	assert.Empty(t, started)
}

// The stages at which an opening fails, and a server that fails at each.
func failingAt() map[string]badserver.Script {
	return map[string]badserver.Script{
		"the handshake":     with(honest(legacy), "initialize", badserver.Fail(mcp.INTERNAL_ERROR, "never")),
		"the first request": with(honest(modern), "tools/list", badserver.Plain(http.StatusServiceUnavailable, "busy")),
	}
}

func TestAFailedOpeningLeavesNoSocket(t *testing.T) {
	t.Parallel()
	for stage, script := range failingAt() {
		t.Run("HTTP failing at "+stage, func(t *testing.T) {
			t.Parallel()
			e := overHTTP(t, badserver.New(script))
			_, err := connect.Open(soon(t), connect.HTTP{URL: e.URL})
			require.Error(t, err)
			e.awaitClosed(t)
		})
	}
	t.Run("SSE failing at the handshake", func(t *testing.T) {
		t.Parallel()
		e := overSSE(t, badserver.New(failingAt()["the handshake"]))
		_, err := connect.Open(soon(t), connect.SSE{URL: e.URL})
		require.Error(t, err)
		e.awaitClosed(t)
	})
	t.Run("SSE failing at the start", func(t *testing.T) {
		t.Parallel()
		e := overSSE(t, badserver.New(with(honest(legacy), "GET", badserver.Answer{Hang: true})))
		_, err := connect.To(connect.SSE{URL: e.URL}, connect.WithTimeouts(connect.Timeouts{
			Probe: time.Millisecond, Handshake: 50 * time.Millisecond})).Open(soon(t))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "did not answer in time")
		e.awaitClosed(t)
	})
}

func TestClosingTheClientClosesItsSockets(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*endpoint, connect.Target){
		"HTTP": func(t *testing.T) (*endpoint, connect.Target) {
			e := overHTTP(t, badserver.New(honest(legacy)))
			return e, connect.HTTP{URL: e.URL}
		},
		"SSE": func(t *testing.T) (*endpoint, connect.Target) {
			e := overSSE(t, badserver.New(honest(legacy)))
			return e, connect.SSE{URL: e.URL}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, target := open(t)
			c, err := connect.Open(soon(t), target)
			require.NoError(t, err)
			toolsOf(t, c)
			require.NoError(t, c.Close())
			e.awaitClosed(t)
		})
	}
}

func TestTheCallersRoundTripperIsLeftAlone(t *testing.T) {
	t.Parallel()
	e := overHTTP(t, badserver.New(honest(legacy)))
	own := &roundTripper{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	defer own.Transport.CloseIdleConnections()
	c, err := connect.Open(soon(t), connect.HTTP{URL: e.URL, RoundTripper: own})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	assert.Len(t, e.received(), own.requests)
	assert.Zero(t, own.closed, "it may be in use elsewhere")
}

type roundTripper struct {
	*http.Transport
	requests, closed int
}

func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	r.requests++
	return r.Transport.RoundTrip(req)
}

func (r *roundTripper) CloseIdleConnections() {
	r.closed++
	r.Transport.CloseIdleConnections()
}

func TestAFailedOpeningThatCannotBeClosedSaysBoth(t *testing.T) {
	t.Parallel()
	stuck := errors.New("stuck")
	s := badserver.New(with(honest(legacy), "initialize", badserver.Fail(mcp.INTERNAL_ERROR, "never")))
	_, err := connect.Open(soon(t), s, func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			result, err := next(ctx, call)
			if call.Op == "Close" {
				err = stuck
			}
			return result, err
		}
	})
	require.ErrorIs(t, err, mcp.ErrInternalError)
	assert.NotErrorIs(t, err, stuck)
	assert.ErrorContains(t, err, "closing it failed: stuck")
}

func TestAMiddlewareMayRefuseTheHandshake(t *testing.T) {
	t.Parallel()
	target := &counted{Target: badserver.New(honest(legacy))}
	_, err := connect.Open(soon(t), target, func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			if call.Method == mcp.MethodInitialize {
				return nil, context.DeadlineExceeded
			}
			return next(ctx, call)
		}
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Zero(t, target.open.Load())
}
