package vmcp_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// doubtful is a backend that refuses the tool's calls in words that may be about
// all, and answers ping as told.
func doubtful(t *testing.T, ping func(context.Context) error) (vmcp.Backend, *atomic.Int64) {
	t.Helper()
	pings := new(atomic.Int64)
	backend, _ := hook(t, "one", serving("one"), func(ctx context.Context, method string) error {
		switch method {
		case "tools/call":
			return &wire.StatusError{Method: "POST", StatusCode: 400}
		case "ping":
			pings.Add(1)
			return ping(ctx)
		default:
			return nil
		}
	})
	return backend, pings
}

func silence(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func answer(context.Context) error { return nil }

func TestClosingEndsAnExperiment(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *vmcp.Session) error{
		"closing": func(_ *testing.T, s *vmcp.Session) error { return s.Close() },
		"leaving": func(t *testing.T, s *vmcp.Session) error {
			other, _ := hook(t, "other", serving("other"), nil)
			return s.Apply(context.Background(), []vmcp.Backend{other})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backend, pings := doubtful(t, silence)
				session := build(t, &vmcp.Builder{}, backend)
				ended := make(chan error)
				go func() {
					_, err := session.CallTool(t.Context(), callOf("one_alpha"))
					ended <- err
				}()
				synctest.Wait()
				require.EqualValues(t, 1, pings.Load(), "it runs")
				began := time.Now()
				require.NoError(t, end(t, session))
				require.Error(t, <-ended)
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

func TestACallerDoesNotWaitForAnExperimentForLongerThanItHas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, _ := doubtful(t, silence)
		session := build(t, &vmcp.Builder{}, backend)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := session.CallTool(ctx, callOf("one_alpha"))
		var refused *wire.StatusError
		require.ErrorAs(t, err, &refused, "why it failed, and not that its time is over")
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestAnExperimentWithoutAnAnswerCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, _ := doubtful(t, silence)
		backend.Breaker.Failures, backend.Retry.Initial = 1, time.Hour
		session := build(t, &vmcp.Builder{}, backend)
		_, err := session.CallTool(t.Context(), callOf("one_alpha"))
		require.Error(t, err)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Failed, report.State)
		assert.Contains(t, report.Reason, "1 requests in a row")
	})
}

// A backend that answers is asked once in each pause, and the pauses do not grow:
// a session that is lost afterwards is found soon.
func TestThePausesBetweenExperimentsDoNotGrowWhileTheBackendAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend, pings := doubtful(t, answer)
		session := build(t, &vmcp.Builder{}, backend)
		const seconds = 60
		for range 10 * seconds {
			_, err := session.CallTool(t.Context(), callOf("one_alpha"))
			require.Error(t, err)
			pass(100 * time.Millisecond)
		}
		assert.InDelta(t, seconds, pings.Load(), 0.3*seconds)
		assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
	})
}

// However short the pauses are: one experiment tells a caller what it asks.
func TestACallerWaitsForOneExperiment(t *testing.T) {
	t.Parallel()
	backend, pings := doubtful(t, answer)
	backend.Retry.Initial, backend.Retry.Max = 1, 1
	session := build(t, &vmcp.Builder{}, backend)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := session.CallTool(ctx, callOf("one_alpha"))
	require.Error(t, err)
	require.NoError(t, ctx.Err())
	assert.EqualValues(t, 1, pings.Load())
}

// A server without sessions has none to lose, whatever it answers to an experiment.
func TestAnExperimentThatIsRefusedWithoutASessionSaysWhatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		backend, _ := hook(t, "one", serving("one"), func(_ context.Context, method string) error {
			switch {
			case !broken.Load():
				return nil
			case method == "tools/call":
				return &wire.StatusError{Method: "POST", StatusCode: 400}
			default:
				return transport.ErrSessionTerminated // as mcp-go says of each 404
			}
		})
		backend.Retry.Initial = time.Hour
		session := build(t, &vmcp.Builder{}, backend)
		broken.Store(true)
		_, err := session.CallTool(t.Context(), callOf("one_alpha"))
		require.Error(t, err)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Failed, report.State)
		assert.Contains(t, report.Reason, "400")
		assert.NotContains(t, report.Remedy, "session")
	})
}
