package vmcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/textproto"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
)

// A member is one backend's life in a session: its connection, from the first
// attempt to the last, what it lists, and what it was told. The session asks it to
// do requests; it tells the session, through its surroundings, that its lists have
// changed or that it stands otherwise.
//
//	session --ask, refresh, probe--> member --send, do--> connection --> chain --> server
//	session <----changed, stands---- member <--------- notifications ------------ server
//
// One goroutine, its supervisor, brings it on; see [phase]. All else may come from
// any goroutine.
type member struct {
	Backend
	surroundings
	log      *slog.Logger    // with the backend's ID
	life     context.Context // ends when it leaves the session
	end      context.CancelFunc
	origin   context.Context // what the first attempt is made for: its values only
	settled  chan struct{}   // closed when the first attempt has ended
	wake     chan struct{}   // full when the supervisor has something to look at
	admitted atomic.Bool     // it belongs to the session; nothing is told of it before

	calls      calls          // in flight, with a lock of their own
	refreshing chan struct{}  // full while a refresh runs
	closing    sync.WaitGroup // of connections that were given up, and of experiments

	// telling is held while the session is told how the member stands, and guards
	// what it was told last.
	telling sync.Mutex
	told    BackendReport

	// mu guards the three groups that follow. While it is held nothing is sent,
	// nobody is told and no other lock is taken but that of what is shared.
	mu sync.Mutex
	stage
	lists
	doubts
}

// surroundings are what a member has of its session.
type surroundings struct {
	builder *Builder        // settings
	session context.Context // ends with it
	turns   chan struct{}   // as many as may connect at the same time
	shared  *shared         // with the session's other members
	changed func()          // tells the session that the lists are others
	stands  func(*member)   // tells it that the member may stand otherwise
}

func newMember(ctx context.Context, backend Backend, around surroundings) *member {
	backend = backend.clone()
	m := &member{
		Backend: backend, surroundings: around, log: around.builder.logger().With(events.KeyBackendID, backend.ID),
		origin: context.WithoutCancel(ctx), settled: make(chan struct{}), wake: make(chan struct{}, 1), refreshing: make(chan struct{}, 1),
		stage:  stage{moved: make(chan struct{}), since: time.Now(), delays: newDelays(backend.Retry)},
		lists:  newLists(backend.Retry),
		doubts: doubts{delays: newDelays(backend.Retry)},
	}
	m.life, m.end = context.WithCancel(around.session)
	return m
}

// settle says that the first attempt has ended. Only the supervisor calls it.
func (m *member) settle() {
	select {
	case <-m.settled:
	default:
		close(m.settled)
	}
}

// poke makes the supervisor look again. It never blocks.
func (m *member) poke() {
	select {
	case m.wake <- struct{}{}:
	default: // it will
	}
}

// current returns the connection, or nil.
func (m *member) current() *connection {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn
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

// listing returns what the backend has for the session's catalogue.
func (m *member) listing() listing {
	serves := m.serves()
	m.mu.Lock()
	defer m.mu.Unlock()
	return listing{offer: m.offer, id: m.ID, prefix: m.prefix(), selection: m.Tools, serves: serves}
}

// timeout is how long a connection, or what the member itself asks, may take.
func (m *member) timeout() time.Duration { return m.builder.timeoutOf(m.Backend) }

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

// forwarded are the headers of the caller that the backend may have.
func (m *member) forwarded(ctx context.Context) http.Header {
	peer, ok := peerOf(ctx)
	if !ok || len(peer.Header) == 0 || len(m.ForwardHeaders) == 0 {
		return nil
	}
	allowed := map[string]bool{}
	for _, name := range m.ForwardHeaders {
		allowed[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	header := http.Header{}
	for name, values := range peer.Header {
		if key := textproto.CanonicalMIMEHeaderKey(name); allowed[key] {
			header[key] = append(header[key], values...)
		}
	}
	return header
}
