package vmcp

import "time"

// phase is where a member of a session is in its life. Its supervisor, one
// goroutine, brings it on; the calls of the session only take it from up to
// renewing or down, and wake the supervisor.
//
//	joining --opened--> up <--opened-- renewing <--the server forgot the session-- up
//	joining --failed--> down <--failed-- renewing
//	                    down <--ended, or the breaker is open-- up
//	                    down --after a while, opened--> up
//
// Calls are answered in up, wait in renewing, and fail at once in joining and
// down with an [*UnavailableError]. In every phase the last good lists stay,
// for as long as [Builder.StaleFor] says.
type phase int

const (
	joining  phase = iota // the first attempt is under way
	up                    // there is a connection
	renewing              // the one attempt for a new session is under way
	down                  // there is no connection; nextTry says when one is tried
)

// supervise is the life of a member, until the session ends or it has to leave.
func (s *Session) supervise(m *member) {
	defer s.part(m)
	for m.life.Err() == nil {
		s.tell(m)
		s.bury(m)
		if next := s.next(m); m.rest(next) {
			next.do(m)
		}
	}
}

// step is what the supervisor does next, if anything, and when; at once if at
// is zero.
type step struct {
	at time.Time
	do func(*member)
}

// next returns the step that is due first. Until the member is admitted a
// failure is left as it is.
func (s *Session) next(m *member) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == joining || m.phase == renewing {
		return step{time.Time{}, s.attempt}
	}
	var first step
	consider := func(at time.Time, do func(*member)) {
		if !at.IsZero() && (first.do == nil || at.Before(first.at)) {
			first = step{at, do}
		}
	}
	if !m.staleSince.IsZero() && !m.expired {
		consider(m.staleSince.Add(s.builder.staleFor()), s.expire)
	}
	if m.phase == down {
		if m.admitted.Load() {
			consider(m.nextTry, s.attempt)
		}
		return first
	}
	if m.behind() {
		return step{time.Time{}, s.catchUp}
	}
	consider(m.refreshAt, s.refreshNow)
	consider(m.probeAt(s.builder.ProbeEvery), s.probeNow)
	return first
}

// rest waits until a step is due, and says so; it returns before when something
// happens that the supervisor should look at.
func (m *member) rest(before step) (due bool) {
	if m.life.Err() != nil {
		return false
	}
	var ready <-chan time.Time
	if before.do != nil {
		timer := time.NewTimer(time.Until(before.at))
		defer timer.Stop()
		ready = timer.C
	}
	c := m.current()
	select {
	case <-ready:
		return true
	case <-m.wake:
	case <-m.life.Done():
	case <-c.ended():
		m.lose(c, c.ending())
	}
	return false
}

// poke makes the supervisor look again. It never blocks.
func (m *member) poke() {
	select {
	case m.wake <- struct{}{}:
	default: // it will
	}
}

// lose gives a connection up that is of no use any more. Who speaks of one that
// has been given up already changes nothing.
func (m *member) lose(c *connection, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != c || m.life.Err() != nil {
		return
	}
	m.conn = nil
	c.retire()
	m.retired = append(m.retired, c)
	if time.Since(c.opened) >= m.delays.longest() {
		m.delays.reset() // it was no flash in the pan
	}
	if c.forgotten(cause) && !m.hopeless(c) {
		m.enter(renewing)
	} else {
		m.fall(cause)
	}
	m.poke()
}

// hopeless says whether a new session would be forgotten as well: this one was
// new, and was forgotten before it served anything.
func (m *member) hopeless(c *connection) bool {
	return c.renewal && !c.answered.Load() && time.Since(c.opened) < m.delays.longest()
}

// fall enters down. The mutex is held.
func (m *member) fall(cause error) {
	now := time.Now()
	if m.phase != down {
		m.since = now
	}
	if m.staleSince.IsZero() && m.listed {
		m.staleSince = now
	}
	m.err, m.stale, m.nextTry = m.hide(cause), nil, now.Add(m.delays.after(cause))
	m.enter(down)
}

// enter changes the phase and lets those go on who wait for that. The mutex is
// held.
func (m *member) enter(p phase) {
	m.phase = p
	close(m.moved)
	m.moved = make(chan struct{})
}

// expire takes lists that are too old from what the session offers, unless new
// ones came just now.
func (s *Session) expire(m *member) {
	m.mu.Lock()
	expired := !m.staleSince.IsZero() && time.Since(m.staleSince) >= s.builder.staleFor()
	if expired {
		m.expired, m.offer = true, offer{}
	}
	m.mu.Unlock()
	if expired {
		s.publish()
	}
}
