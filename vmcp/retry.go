package vmcp

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"os/exec"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// Retry says how long a session waits between the attempts to bring a failed
// backend back: Initial before the first one, then twice as long each time, up
// to Max, each a fifth shorter or longer by chance. A failure that only a
// person can mend, such as a refused login or a command that is not there, is
// tried again after Max. A zero field keeps its default.
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

// after is how long to wait after a failure.
func (d delays) after(err error) time.Duration {
	if permanent(err) {
		return d.longest()
	}
	return min(d.growing.NextBackOff(), d.longest())
}

func (d delays) longest() time.Duration { return d.growing.MaxInterval }

func (d delays) reset() { d.growing.Reset() }

// permanent says whether only a person can mend the failure.
func permanent(err error) bool {
	if opening, ok := errors.AsType[*connect.Error](err); ok && opening.Stage == "target" {
		return true
	}
	return errors.Is(err, transport.ErrAuthorizationRequired) || errors.Is(err, transport.ErrOAuthAuthorizationRequired) ||
		wire.HasStatus(err, http.StatusForbidden) ||
		mcp.IsUnsupportedProtocolVersion(err) ||
		errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
