package vmcp_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	reading "github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busy is a server that turns the calls of tools away while it is true.
func busy(t *testing.T, turned error) (vmcp.Backend, *atomic.Bool, *hooked) {
	t.Helper()
	is := new(atomic.Bool)
	backend, server := hook(t, "one", serving("one"), func(_ context.Context, method string) error {
		if method == "tools/call" && is.Load() {
			return turned
		}
		return nil
	})
	return backend, is, server
}

var tooOften = &wire.StatusError{Method: "POST", StatusCode: 429, RetryAfter: 4 * time.Second}

func TestCallsThatWaitToBeSentWaitForABackendThatOthersLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, is, server := busy(t, tooOften)
		session := build(t, &vmcp.Builder{}, backend)
		is.Store(true)
		time.AfterFunc(2*time.Second, func() { is.Store(false) })
		var callers sync.WaitGroup
		for range vmcp.DefaultBreakerFailures { // the last of them trips the breaker
			callers.Go(func() {
				_, err := session.CallTool(t.Context(), callOf("one_alpha"))
				assert.NoError(t, err)
			})
		}
		callers.Wait()
		assert.Equal(t, vmcp.DefaultBreakerFailures, server.Count("tools/call"), "once each")
	})
}

var nobody = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

func TestACallThatWaitsToBeSentGoesToWhoTakesTheBackendsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before, is, _ := busy(t, nobody)
		before.Retry.Initial, before.Retry.Max = 20*time.Second, 20*time.Second
		session := build(t, &vmcp.Builder{}, before)
		is.Store(true)
		ended := make(chan error)
		go func() {
			_, err := session.CallTool(t.Context(), callOf("one_alpha"))
			ended <- err
		}()
		synctest.Wait()
		after, server := hook(t, "one", serving("one"), nil)
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{after}))
		require.NoError(t, <-ended)
		assert.Equal(t, 1, server.Count("tools/call"))
	})
}

func TestACallDoesNotWaitForABackendThatIsTriedTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, is, _ := busy(t, nobody)
		backend.Retry.Initial, backend.Retry.Max = time.Hour, time.Hour
		session := build(t, &vmcp.Builder{}, backend)
		is.Store(true)
		began := time.Now()
		_, err := session.CallTool(t.Context(), callOf("one_alpha"))
		require.ErrorIs(t, err, nobody)
		assert.Contains(t, err.Error(), "nothing was sent")
		assert.Zero(t, time.Since(began))
	})
}

func TestClosingEndsACallThatWaitsToBeSent(t *testing.T) {
	t.Parallel()
	for name, turned := range map[string]error{"for a while": tooOften, "for the backend": nobody} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backend, is, _ := busy(t, turned)
				backend.Retry.Initial = 10 * time.Second
				session := build(t, &vmcp.Builder{}, backend)
				is.Store(true)
				ended := make(chan error)
				go func() {
					_, err := session.CallTool(t.Context(), callOf("one_alpha"))
					ended <- err
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, session.Close())
				require.ErrorIs(t, <-ended, vmcp.ErrClosed)
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// A call that waits for a new session in vain was not sent.
func TestACallThatWaitsForANewSessionInVainWasNotSent(t *testing.T) {
	t.Parallel()
	backend, server := newShop(t, nil)
	session := build(t, &vmcp.Builder{}, backend)
	hold := make(chan struct{})
	defer close(hold)
	server.held.Store(&hold)
	server.forget(t)
	_, err := session.CallTool(t.Context(), callOf("shop_buy")) // meets the loss
	require.Error(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = session.CallTool(ctx, callOf("shop_buy"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.True(t, reading.Of(err).NotSent(), "%v", err)
	assert.Equal(t, 1, server.Count("tools/call"))
}

// A panic in a middleware, of which the caller recovers, keeps nothing open.
func TestAPanicDuringACallKeepsNoConnectionOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, server := hook(t, "one", serving("one"), func(_ context.Context, method string) error {
			if method == "tools/call" {
				panic("a fault")
			}
			return nil
		})
		other, _ := hook(t, "other", serving("other"), nil)
		session := build(t, &vmcp.Builder{}, backend, other)
		assert.Panics(t, func() { _, _ = session.CallTool(t.Context(), callOf("one_alpha")) })
		require.NoError(t, session.Apply(t.Context(), []vmcp.Backend{other}))
		synctest.Wait()
		_, open := server.open()
		assert.Zero(t, open, "it has left")
	})
}

func TestWhatOnlyAPersonCanMendIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, is, _ := busy(t, &wire.StatusError{Method: "POST", StatusCode: 401})
		backend.Retry.Initial, backend.Retry.Max = time.Second, time.Second
		session := build(t, &vmcp.Builder{}, backend)
		is.Store(true)
		began := time.Now()
		_, err := session.CallTool(t.Context(), callOf("one_alpha"))
		require.Error(t, err)
		assert.Zero(t, time.Since(began))
	})
}
