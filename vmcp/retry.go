package vmcp

import (
	"cmp"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// Retry says how long a session waits between the attempts to bring a failed
// backend back: Initial before the first one, then twice as long each time, up
// to Max, each a fifth shorter or longer by chance. A failure that only a
// person can mend, such as a refused login or a command that is not there, is
// tried again after Max; one of a server that asks to be left alone for longer
// than that, after it. A zero field keeps its default.
type Retry struct {
	Initial time.Duration // 1 s by default
	Max     time.Duration // 1 min by default
}

// delays are those between the attempts for one backend. They are not safe for
// concurrent use.
type delays struct {
	growing *backoff.ExponentialBackOff
}

func newDelays(retry Retry) delays {
	longest := cmp.Or(max(retry.Max, 0), DefaultRetryMax)
	growing := &backoff.ExponentialBackOff{
		InitialInterval:     min(cmp.Or(max(retry.Initial, 0), DefaultRetryInitial), longest),
		RandomizationFactor: 0.2,
		Multiplier:          2,
		MaxInterval:         longest,
	}
	growing.Reset()
	return delays{growing}
}

// longestAsked is how long a server may ask to be left alone.
const longestAsked = time.Hour

// after is how long to wait after a failure.
func (d delays) after(err error) time.Duration {
	read := failure.Of(err)
	wait := d.longest()
	if !read.NeedsPerson() {
		wait = d.next()
	}
	return max(wait, min(read.RetryAfter, longestAsked))
}

// next is how long to wait after a failure of which nothing is known.
func (d delays) next() time.Duration { return min(d.growing.NextBackOff(), d.longest()) }

func (d delays) longest() time.Duration { return d.growing.MaxInterval }

func (d delays) reset() { d.growing.Reset() }
