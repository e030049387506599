package vmcp

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// A server that lost a session may say so in any words, and one that refuses one
// request may use the same. What it says is no proof; an experiment is: a cheap
// request in the same session. If the server answers that, the failure was about
// the request. If it refuses that too, the session is lost, or the backend answers
// nobody.

// doubts say when there may be an experiment: one at a time, and one in each
// pause, whoever asks.
type doubts struct {
	delays  delays
	running chan struct{} // closed when the experiment that runs has ended; nil if none does
	nextAt  time.Time     // when there may be another
}

// doubt says whether the server has lost the session of the connection over which
// a request failed. It waits for the experiment, as long as ctx allows.
func (m *member) doubt(ctx context.Context, c *connection, cause error) (lost bool) {
	for made := false; ; {
		wait, making, lost := m.experiment(c, cause, made)
		if wait == nil {
			return lost
		}
		select {
		case <-wait:
			made = making
		case <-ctx.Done():
			return false
		}
	}
}

// experiment returns whether the session is lost, or what to wait for, and whether
// that is the end of an experiment, which tells; made says that one was waited for.
func (m *member) experiment(c *connection, cause error, made bool) (wait <-chan struct{}, making, lost bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	early := time.Until(m.nextAt)
	switch {
	case m.conn != c || c.over:
		return nil, false, c.lost
	case made || early > 0 && c.alive:
		return nil, false, false // as was seen just now
	case m.running != nil:
		return m.running, true, false
	case early > 0:
		return after(c.life, early), false, false
	}
	running := make(chan struct{})
	m.running = running
	m.closing.Go(func() {
		defer close(running)
		m.examine(c, cause)
	})
	return running, true, false
}

// after is closed after a while, or when ctx ends.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	within, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(within, cancel)
	return within.Done()
}

// examine makes the experiment and gives the connection up if the server refuses
// everything over it.
func (m *member) examine(c *connection, cause error) {
	ctx, cancel := context.WithTimeout(c.life, m.timeout())
	defer cancel()
	refused, err := m.refusesAll(ctx, c)
	m.mu.Lock()
	m.running = nil
	m.nextAt = time.Now().Add(m.doubts.delays.next())
	c.alive = !refused
	if c.answered.Load() {
		m.doubts.delays.reset()
	}
	m.mu.Unlock()
	switch {
	case refused && c.session:
		m.lose(c, lostSession{cause})
	case refused:
		m.lose(c, cause)
	case err != nil && m.life.Err() == nil && c.consequence(failure.Of(err)) != failure.Doubt:
		m.judge(ctx, c, err)
	}
}

// refusesAll says whether the server refuses cheap requests in the same way. The
// error is why that is not known.
func (m *member) refusesAll(ctx context.Context, c *connection) (bool, error) {
	for _, question := range c.cheap() {
		err := c.do(ctx, question)
		switch read := failure.Of(err); {
		case read.Consequence() == failure.Keep && read.Answered():
			return false, nil
		case read.Consequence() != failure.Doubt && read.Consequence() != failure.Renew:
			return false, err
		}
	}
	return true, nil
}

// cheap are the requests of an experiment: two, since some servers refuse what
// they do not know as they refuse everything, and since it may be a list of tools
// that failed.
func (c *connection) cheap() []func(context.Context, *mcpclient.Client) error {
	switch tools := capability.Tools.In(c.server.Capabilities); {
	case mcp.IsModernProtocol(c.server.ProtocolVersion):
		return []func(context.Context, *mcpclient.Client) error{alive, discovers}
	case tools:
		return []func(context.Context, *mcpclient.Client) error{alive, listsTools}
	default:
		return []func(context.Context, *mcpclient.Client) error{alive}
	}
}

// lostSession is the failure that an experiment has shown to be the loss of the
// session, in the server's words.
type lostSession struct{ error }

func (l lostSession) Unwrap() error { return l.error }

// LostSession says so: package failure asks.
func (lostSession) LostSession() bool { return true }

// judge draws the consequences of a failure for the connection, and says whether
// the server has lost its session.
func (m *member) judge(ctx context.Context, c *connection, err error) (lost bool) {
	switch c.consequence(failure.Of(err)) {
	case failure.Fail:
		m.lose(c, err)
	case failure.Renew:
		m.lose(c, err)
		return true
	case failure.Doubt:
		return m.doubt(ctx, c, err)
	case failure.Count:
		if c.tripped() {
			m.lose(c, fmt.Errorf("%d requests in a row were not answered, the last: %w", c.limit, err))
		}
	case failure.Keep:
	}
	return false
}
