package vmcp

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// phase is where a member of a session is in its life. Its supervisor, one
// goroutine, brings it on; requests only take it from up to renewing or down, and
// wake the supervisor.
//
//	joining --opened--> up <--opened-- renewing <--the server lost the session-- up
//	joining --failed--> down <--failed-- renewing
//	                    down <--ended, or the breaker tripped-- up
//	                    down --after a while, opened--> up
//
// Requests are sent in up, wait in renewing, and fail at once in joining and down
// with an [*UnavailableError]. In every phase the last good lists stay, for as long
// as [Builder.StaleFor] says.
type phase int

const (
	joining  phase = iota // the first attempt is under way
	up                    // there is a connection
	renewing              // the one attempt for a new session is under way
	down                  // there is no connection; nextTry says when one is tried
)

// stage is where a member is in its life. There is a connection in the phase up
// and in no other; err is why there is none in down, and nextTry when one is
// tried.
type stage struct {
	phase    phase
	moved    chan struct{}         // closed when the phase changes
	conn     *connection           // nil unless up
	retired  []*connection         // given up and not yet closed
	server   *mcp.InitializeResult // the last handshake; nil if there was none
	err      error                 // why it is down
	since    time.Time
	nextTry  time.Time
	attempts int
	delays   delays // between attempts
	probed   time.Time
}
