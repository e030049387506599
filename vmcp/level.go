package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// SetLevel asks all backends that advertise logging, side by side, for log
// messages of the level and above, and those that come later when they do. On
// protocol 2026-07-28 nothing is sent: the level goes along with each request. A
// backend that fails does not keep the others from it; the error names
// each that did and wraps its own. A level that there is not is
// [mcp.ErrInvalidParams].
func (s *Session) SetLevel(ctx context.Context, level mcp.LoggingLevel) error {
	if !ValidLevel(level) {
		return fmt.Errorf("%w: there is no logging level %q; it is one of %q", mcp.ErrInvalidParams, level, levels)
	}
	if s.life.Err() != nil {
		return ErrClosed
	}
	claimed := s.shared.claimLevel(level)
	logging := s.roster.Load().those(func(m *member) bool { return m.claimLevel(level) })
	claimed()
	for _, m := range s.all() {
		m.poke() // one that was being opened
	}
	failures := make([]error, len(logging))
	var asking sync.WaitGroup
	for i, m := range logging {
		asking.Go(func() {
			request := mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: level}}
			_, failures[i] = ask(ctx, m, silent((*mcpclient.Client).SetLevel), request)
			if _, absent := errors.AsType[*UnavailableError](failures[i]); absent {
				failures[i] = nil // it is told when it comes back
			}
			m.poke() // another level may have been set meanwhile
		})
	}
	asking.Wait()
	return errors.Join(failures...)
}

var levels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

// ValidLevel says whether the protocol has a level of log messages.
func ValidLevel(level mcp.LoggingLevel) bool { return slices.Contains(levels, level) }
