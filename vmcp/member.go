package vmcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
)

// member is a backend in a session: its connection, what it offers and what is
// to be reported about it.
type member struct {
	Backend
	life    context.Context // ends when it leaves the session
	end     context.CancelFunc
	origin  context.Context // what the first attempt is made for: its values only
	settled chan struct{}   // closed when the first attempt has ended
	wake    chan struct{}   // full when the supervisor has something to look at

	shared   *shared      // with the session's other members
	calls    calls        // in flight
	log      *slog.Logger // with the backend's ID
	admitted atomic.Bool  // it belongs to the session; nothing is told of it before

	refreshing chan struct{}  // full while a refresh runs
	closing    sync.WaitGroup // of connections that were given up
	closed     error          // of the last connection; to be read when the supervisor has ended
	delays     delays         // between attempts to connect; guarded by mu
	refreshes  delays         // between refreshes that fail; guarded by mu

	telling sync.Mutex
	told    BackendReport // what was told of it last

	mu             sync.Mutex
	phase          phase
	moved          chan struct{}         // closed when the phase changes
	conn           *connection           // nil unless up
	retired        []*connection         // given up and not yet closed
	server         *mcp.InitializeResult // the last handshake; nil if there was none
	err            error                 // why it is down
	since          time.Time
	nextTry        time.Time
	attempts       int
	listed         bool // it has had lists
	offer          offer
	stale          error     // why the last refresh failed
	staleSince     time.Time // when the lists began to be older than they should
	expired        bool      // they were too old to keep
	refreshAt      time.Time // zero if no refresh is due
	settling       settling
	probed         time.Time
	contradictions []middleware.Contradiction
	noted          map[promise]bool // since the lists were last asked for
	lacking        map[string]bool  // patterns of Tools that have been warned about
}

// promise is what a contradiction is about.
type promise struct {
	event  string
	method mcp.MCPMethod
}

func newMember(backend Backend, shared *shared, log *slog.Logger) *member {
	return &member{
		Backend: backend, shared: shared, log: log.With(events.KeyBackendID, backend.ID),
		delays: newDelays(backend.Retry), refreshes: newDelays(backend.Retry), since: time.Now(),
		settled: make(chan struct{}), wake: make(chan struct{}, 1), refreshing: make(chan struct{}, 1),
		moved: make(chan struct{}), noted: map[promise]bool{}, lacking: map[string]bool{},
	}
}

// attempting returns the context of an attempt to connect. The first one has
// what the session was built with, such as a trace.
func (m *member) attempting() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase == joining {
		return within{m.life, m.origin}
	}
	return m.life
}

// within has the end of one context and the values of both.
type within struct {
	context.Context
	values context.Context
}

func (w within) Value(key any) any {
	if value := w.Context.Value(key); value != nil {
		return value
	}
	return w.values.Value(key)
}

// settle says that the first attempt has ended. Only the supervisor calls it.
func (m *member) settle() {
	select {
	case <-m.settled:
	default:
		close(m.settled)
	}
}

// current returns the connection, or nil.
func (m *member) current() *connection {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn
}

// ended is closed when a connection has ended by itself.
func (c *connection) ended() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.gone
}

// discovery is what comes of the proof of a connection.
type discovery struct {
	offer
	server *mcp.InitializeResult // the handshake
	stream context.Context       // as in [connection]
	told   wish
}

// discover asks for the advertised lists, and tells a server that has them what
// is wanted of it. It is the proof of the connection, so it may run twice, each
// time with another client.
func (m *member) discover(ctx context.Context, client *mcpclient.Client) (discovery, error) {
	client.OnNotification(m.notified) // first: no change may slip through between
	stream := streamOf(m.Connector.Target(), client)
	server, known := client.Server()
	if !known {
		return discovery{}, errors.New("the handshake told nothing about the server")
	}
	m.mu.Lock()
	m.server, m.noted = server, map[promise]bool{}
	m.mu.Unlock()
	offered, err := listAll(ctx, client, server.Capabilities)
	if err != nil {
		return discovery{}, err
	}
	wanted := m.shared.wishOf(m.ID)
	_ = m.fulfil(ctx, client, server, wish{}, wanted) // what fails is in the log
	return discovery{offered, server, stream, wanted}, nil
}

// take takes lists over, and says whether they differ from those before. The
// mutex is held.
func (m *member) take(offered offer) (changed bool) {
	m.contradictions = slices.DeleteFunc(m.contradictions, func(c middleware.Contradiction) bool {
		return isList(c.Method) && !m.noted[promise{c.Event, c.Method}]
	})
	changed = !m.offer.equal(offered)
	m.offer, m.listed, m.stale, m.staleSince, m.expired = offered, true, nil, time.Time{}, false
	return changed
}

func isList(method mcp.MCPMethod) bool {
	switch method {
	case mcp.MethodToolsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodPromptsList:
		return true
	default:
		return false
	}
}

// offers returns what the backend lists at the moment.
func (m *member) offers() offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offer
}

// serves says whether there are lists that calls about them are answered for,
// or soon will be.
func (m *member) serves() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return (m.phase == up || m.phase == renewing) && !m.expired
}

// has returns what the backend advertised when it was last connected to, which
// is nothing if it never was.
func (m *member) has() mcp.ServerCapabilities {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.server == nil || !m.listed {
		return mcp.ServerCapabilities{}
	}
	return m.server.Capabilities
}

// advertisesResources says whether the backend promised resources.
func (m *member) advertisesResources() bool { return m.has().Resources != nil }

// servesResources says whether the backend has kept that promise so far.
func (m *member) servesResources() bool {
	if !m.advertisesResources() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(m.contradictions, func(c middleware.Contradiction) bool {
		return c.Method == mcp.MethodResourcesList
	})
}

// completes says whether the backend has something to complete arguments of,
// and advertised that it does.
func (m *member) completes() bool {
	o := m.offers()
	return m.has().Completions != nil && len(o.Prompts)+len(o.Resources)+len(o.Templates) > 0
}

// note is called by the chain, from several goroutines, for each contradiction.
func (m *member) note(_ context.Context, contradiction middleware.Contradiction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	about := promise{contradiction.Event, contradiction.Method}
	m.noted[about] = true
	if !slices.ContainsFunc(m.contradictions, func(c middleware.Contradiction) bool { return promise{c.Event, c.Method} == about }) {
		m.contradictions = append(m.contradictions, contradiction)
		m.poke()
	}
}

// report says how things stand, given what the session had to leave out. A
// contradiction that a later call met is in it.
func (m *member) report(leftOut []LeftOut) BackendReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := BackendReport{
		ID: m.ID, State: Ready, Since: m.since, Target: m.Connector.String(), Required: m.Required, StaleSince: m.staleSince,
		Contradictions: slices.Clone(m.contradictions), LeftOut: slices.Clone(leftOut),
	}
	slices.SortFunc(r.Contradictions, func(a, b middleware.Contradiction) int {
		return strings.Compare(string(a.Method), string(b.Method))
	})
	if m.server != nil {
		r.ServerName, r.ServerVersion, r.ProtocolVersion = m.server.ServerInfo.Name, m.server.ServerInfo.Version, m.server.ProtocolVersion
	}
	r.BugReport = bugReport(r.ServerName, r.ServerVersion, r.ProtocolVersion, findings(r.Contradictions))
	r.Tools, r.Resources, r.ResourceTemplates, r.Prompts =
		len(m.offer.Tools), len(m.offer.Resources), len(m.offer.Templates), len(m.offer.Prompts)
	r.PatternsWithoutMatch = m.Tools.withoutMatch(m.offer.Tools)
	switch m.phase {
	case joining:
		r.State, r.Reason, r.Remedy = Connecting, notYet, waitForIt
	case down:
		r.State, r.Reason, r.Remedy, r.Err = Failed, m.Connector.Mask(reasonOf(m.err)), remedyOf(m.err), m.err
		r.NextTry, r.Attempts = m.nextTry, m.attempts
	default:
		r.degrade(m.stale, m.expired, m.Connector.Mask)
	}
	return r
}
