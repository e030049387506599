package lifetime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type key struct{}

func TestEitherEndsWithEitherAndHasWhatTheFirstHas(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(one, other context.CancelFunc){
		"with the first":  func(one, _ context.CancelFunc) { one() },
		"with the second": func(_, other context.CancelFunc) { other() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, endOne := context.WithTimeout(context.WithValue(t.Context(), key{}, "one"), time.Hour)
			other, endOther := context.WithCancel(context.WithValue(t.Context(), key{}, "other"))
			defer endOne()
			defer endOther()
			ctx, release := lifetime.Either(one, other)
			defer release()
			assert.Equal(t, "one", ctx.Value(key{}))
			want, _ := one.Deadline()
			got, bounded := ctx.Deadline()
			assert.True(t, bounded)
			assert.Equal(t, want, got)
			require.NoError(t, ctx.Err())
			end(endOne, endOther)
			<-ctx.Done()
		})
	}
}

func TestNothingEntersAGroupThatIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var group lifetime.Group
		var ran atomic.Int32
		hold := make(chan struct{})
		require.True(t, group.Go(func() { <-hold; ran.Add(1) }))
		require.True(t, group.Enter())
		group.Close()
		group.Close()
		assert.False(t, group.Go(func() { ran.Add(1) }))
		assert.False(t, group.Enter())
		waited := make(chan struct{})
		go func() { group.Wait(); close(waited) }()
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("two are still inside")
		default:
		}
		group.Leave()
		close(hold)
		<-waited
		assert.EqualValues(t, 1, ran.Load())
	})
}
