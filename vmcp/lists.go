package vmcp

import (
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/middleware"
)

// lists are what a backend lists, what it promised in vain, and how old that is.
// The last good lists stay until they are too old; since when they are older than
// they should be says staleSince. It knows no lock, no server and no clock but what
// it is told.
type lists struct {
	offer      offer
	listed     bool         // there were lists
	failed     []FailedList // those that the backend could not give, and does not fail for
	stale      error        // why the last refresh failed
	staleSince time.Time    // when the lists began to be older than they should
	expired    bool         // they were too old to keep
	refreshAt  time.Time    // zero if no refresh is due
	refreshes  delays       // between refreshes that fail
	settling   settling

	contradictions []middleware.Contradiction
	noted          map[promise]bool // since the lists were last asked for
	lacking        map[string]bool  // patterns of the selection that have been warned about
}

// promise is what a contradiction is about.
type promise struct {
	event  string
	method mcp.MCPMethod
}

func newLists(retry Retry) lists {
	return lists{refreshes: newDelays(retry), noted: map[promise]bool{}, lacking: map[string]bool{}}
}

// renew says that the lists are being asked for: what is noted from now on is
// about them.
func (l *lists) renew() { l.noted = map[promise]bool{} }

// note takes a contradiction down, and says whether it is a new one.
func (l *lists) note(contradiction middleware.Contradiction) (isNew bool) {
	about := promise{contradiction.Event, contradiction.Method}
	l.noted[about] = true
	if slices.ContainsFunc(l.contradictions, func(c middleware.Contradiction) bool { return promise{c.Event, c.Method} == about }) {
		return false
	}
	l.contradictions = append(l.contradictions, contradiction)
	return true
}

// take takes lists over that have just been asked for, and says whether they
// differ from those before. Of a list that failed what was there before stays,
// for so long.
func (l *lists) take(found inventory, now time.Time, staleFor time.Duration) (changed bool) {
	l.contradictions = slices.DeleteFunc(l.contradictions, func(c middleware.Contradiction) bool {
		return capability.IsList(c.Method) && !l.noted[promise{c.Event, c.Method}]
	})
	for i := range found.failed {
		f := &found.failed[i]
		f.Since = now
		if before := slices.IndexFunc(l.failed, func(b FailedList) bool { return b.Method == f.Method }); before >= 0 {
			f.Since = l.failed[before].Since
		}
		if now.Sub(f.Since) < staleFor {
			found.offer = found.offer.keeping(f.Method, l.offer)
		}
	}
	changed = !l.offer.equal(found.offer)
	l.offer, l.failed, l.listed = found.offer, found.failed, true
	l.stale, l.staleSince, l.expired = nil, time.Time{}, false
	if len(found.failed) == 0 {
		l.refreshes.reset()
	} else {
		l.due(now.Add(l.refreshes.next()))
	}
	return changed
}

// due has the lists asked for again then, and says so, unless they are to be sooner.
func (l *lists) due(at time.Time) (sooner bool) {
	sooner = l.refreshAt.IsZero() || at.Before(l.refreshAt)
	if sooner {
		l.refreshAt = at
	}
	return sooner
}

// outdate takes down that the lists could not be asked for, and when they are asked
// for again.
func (l *lists) outdate(err error, now time.Time) {
	l.stale = err
	l.age(now)
	l.refreshAt = now.Add(l.refreshes.after(err))
}

// age says that the lists are older than they should be from now on, if there are
// some and they are not already.
func (l *lists) age(now time.Time) {
	if l.staleSince.IsZero() {
		l.staleSince = now
	}
}

// expire drops lists that are too old, and says whether it did.
func (l *lists) expire(now time.Time, staleFor time.Duration) bool {
	if l.staleSince.IsZero() || now.Sub(l.staleSince) < staleFor {
		return false
	}
	l.expired, l.offer = true, offer{}
	return true
}

// missed are the patterns of a selection that the tools do not match and that
// have not been told yet.
func (l *lists) missed(selection ToolSelection) []string {
	if !l.staleSince.IsZero() { // they have not just been listed
		return nil
	}
	missed := slices.DeleteFunc(selection.withoutMatch(l.offer.Tools), func(pattern string) bool { return l.lacking[pattern] })
	for _, pattern := range missed {
		l.lacking[pattern] = true
	}
	return missed
}

// promises are the contradictions, in the order of their methods.
func (l *lists) promises() []middleware.Contradiction {
	sorted := slices.Clone(l.contradictions)
	slices.SortFunc(sorted, func(a, b middleware.Contradiction) int { return strings.Compare(string(a.Method), string(b.Method)) })
	return sorted
}
