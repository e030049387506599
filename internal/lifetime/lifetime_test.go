package lifetime_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNothingEntersAClosedGroup(t *testing.T) {
	t.Parallel()
	var g lifetime.Group
	require.True(t, g.Enter())
	g.Close()
	g.Close()
	assert.False(t, g.Enter())
	assert.False(t, g.Go(func() { t.Error("it ran") }))
	g.Leave()
	g.Wait()
	g.Close()
	g.Wait()
}

func TestWaitingEndsWithTheLastOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g lifetime.Group
		var ended atomic.Int64
		began := time.Now()
		for i := range 3 {
			require.True(t, g.Go(func() { <-time.After(time.Duration(i) * time.Second); ended.Add(1) }))
		}
		done := g.Done()
		synctest.Wait()
		select {
		case <-done:
			t.Error("somebody is inside")
		default:
		}
		g.Close()
		g.Wait()
		<-done
		assert.EqualValues(t, 3, ended.Load())
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestAnOpenGroupIsNotDoneThoughItIsEmpty(t *testing.T) {
	t.Parallel()
	var g lifetime.Group
	require.True(t, g.Enter())
	g.Leave()
	select {
	case <-g.Done():
		t.Error("something may still enter")
	default:
	}
	g.Close()
	<-g.Done()
}

type key struct{}

func TestEitherEndsWithEitherAndHasItsCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for first := range 2 {
			a, endA := context.WithCancelCause(context.WithValue(t.Context(), key{}, "a"))
			b, endB := context.WithCancelCause(context.WithValue(t.Context(), key{}, "b"))
			ctx, cancel := lifetime.Either(a, b)
			assert.Equal(t, "a", ctx.Value(key{}))
			require.NoError(t, ctx.Err())
			why := errors.New("because")
			[]context.CancelCauseFunc{endA, endB}[first](why)
			<-ctx.Done()
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			assert.Equal(t, why, context.Cause(ctx))
			cancel()
			endA(nil)
			endB(nil)
		}
	})
}

func TestEitherCanBeEndedByItself(t *testing.T) {
	t.Parallel()
	within, end := context.WithTimeout(t.Context(), time.Hour)
	defer end()
	ctx, cancel := lifetime.Either(within, t.Context())
	theirs, _ := within.Deadline()
	ours, bounded := ctx.Deadline()
	assert.True(t, bounded)
	assert.Equal(t, theirs, ours)
	cancel()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.NoError(t, within.Err())
}
