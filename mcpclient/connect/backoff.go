package connect

import (
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
