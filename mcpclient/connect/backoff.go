package connect

import (
	"context"
	"math/rand/v2"
	"time"
)

// A stream that ends is opened again, after longer each time unless it stayed
// open for a while.
const (
	shortestPause = time.Second
	longestPause  = time.Minute
	steady        = 10 * time.Second
)

// pause is how long to wait after that many attempts in vain, with jitter: many
// clients may have lost the same server at the same time.
func pause(tries int) time.Duration {
	longest := longestPause
	if tries < 6 {
		longest = shortestPause << max(tries, 0)
	}
	return longest/2 + rand.N(longest/2) //nolint:gosec // nobody gains by guessing it
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
