package connect

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// steady is how long a stream must have been open for its end to be no trouble.
const steady = 10 * time.Second

// newPauses are those before a stream that ends is opened again: longer each
// time, half a second to one at first and half a minute to one in the end, by
// chance: many clients may have lost the same server at the same time.
func newPauses() *backoff.ExponentialBackOff {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 750 * time.Millisecond, Multiplier: 2, MaxInterval: 45 * time.Second, RandomizationFactor: 1. / 3,
	}
	pauses.Reset()
	return pauses
}

// sleep waits, and says whether the time has passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
