package vmcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
)

// member is a backend in a session: its client, what it offers and what is to
// be reported about it.
type member struct {
	Backend
	client *mcpclient.Client     // nil if the backend failed
	server *mcp.InitializeResult // the handshake; nil if there was none
	err    error
	since  time.Time

	// changed is full when the server said that a list changed and no refresh
	// has begun since.
	changed    chan struct{}
	refreshing chan struct{} // full while a refresh runs

	mu             sync.Mutex
	offer          offer
	stale          error // why the last refresh failed
	contradictions []middleware.Contradiction
	noted          map[promise]bool // since the lists were last asked for
}

// promise is what a contradiction is about.
type promise struct {
	event  string
	method mcp.MCPMethod
}

func newMember(backend Backend) *member {
	return &member{Backend: backend, changed: make(chan struct{}, 1), refreshing: make(chan struct{}, 1), noted: map[promise]bool{}}
}

// discover asks for the advertised lists. It is the proof of the connection, so
// it may run twice, each time with another client.
func (m *member) discover(ctx context.Context, client *mcpclient.Client) error {
	client.OnNotification(m.notified) // first: no change may slip through between
	server, known := client.Server()
	if !known {
		return errors.New("the handshake told nothing about the server")
	}
	m.server = server
	_, err := m.list(ctx, client)
	return err
}

// list asks for the advertised lists, takes them over, and says whether they
// differ from those before. On failure the lists before stay.
func (m *member) list(ctx context.Context, client *mcpclient.Client) (changed bool, err error) {
	m.beginList()
	offered, err := listAll(ctx, client, m.server.Capabilities)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return false, err // whoever asked gave up: that says nothing about the server
	}
	if (m.stale == nil) != (err == nil) {
		m.since = time.Now()
	}
	m.stale = err
	if err != nil {
		return false, err
	}
	m.contradictions = slices.DeleteFunc(m.contradictions, func(c middleware.Contradiction) bool {
		return isList(c.Method) && !m.noted[promise{c.Event, c.Method}]
	})
	changed = !m.offer.equal(offered)
	m.offer = offered
	return changed, nil
}

func (m *member) beginList() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noted = map[promise]bool{}
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

// advertisesResources says whether the backend is there and promised resources.
func (m *member) advertisesResources() bool {
	return m.client != nil && m.server.Capabilities.Resources != nil
}

// servesResources says whether the backend has kept that promise so far.
func (m *member) servesResources() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.advertisesResources() && !slices.ContainsFunc(m.contradictions, func(c middleware.Contradiction) bool {
		return c.Method == mcp.MethodResourcesList
	})
}

// completes says whether the backend has something to complete arguments of,
// and advertised that it does.
func (m *member) completes() bool {
	o := m.offers()
	return m.client != nil && m.server.Capabilities.Completions != nil &&
		len(o.Prompts)+len(o.Resources)+len(o.Templates) > 0
}

// note is called by the chain, from several goroutines, for each contradiction.
func (m *member) note(_ context.Context, contradiction middleware.Contradiction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	about := promise{contradiction.Event, contradiction.Method}
	m.noted[about] = true
	if !slices.ContainsFunc(m.contradictions, func(c middleware.Contradiction) bool { return promise{c.Event, c.Method} == about }) {
		m.contradictions = append(m.contradictions, contradiction)
	}
}

// report says how things stand, given what the session had to leave out. A
// contradiction that a later call met is in it.
func (m *member) report(leftOut []LeftOut) BackendReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := BackendReport{
		ID: m.ID, State: Ready, Since: m.since, Target: m.Connector.String(),
		Contradictions: slices.Clone(m.contradictions), LeftOut: slices.Clone(leftOut),
	}
	slices.SortFunc(r.Contradictions, func(a, b middleware.Contradiction) int {
		return strings.Compare(string(a.Method), string(b.Method))
	})
	if m.server != nil {
		r.ServerName, r.ServerVersion, r.ProtocolVersion = m.server.ServerInfo.Name, m.server.ServerInfo.Version, m.server.ProtocolVersion
	}
	if m.err != nil {
		r.State, r.Reason, r.Remedy, r.Err = Failed, reasonOf(m.err), remedyOf(m.err), m.err
		return r
	}
	r.Tools, r.Resources, r.ResourceTemplates, r.Prompts =
		len(m.offer.Tools), len(m.offer.Resources), len(m.offer.Templates), len(m.offer.Prompts)
	r.degrade(m.stale, m.Connector.Mask)
	return r
}
