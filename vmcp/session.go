package vmcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Session is many backends behind one set of tools, resources and prompts.
// It is safe for concurrent use. Every call costs its backend exactly one
// request, or none where the session knows that nobody serves it; only after
// the server has forgotten its session there may be a second one.
//
// A backend that fails or is lost is tried again until it is back. Its last
// good lists stay for a while, and calls to what is in them are answered with
// an [*UnavailableError] at once.
type Session struct {
	builder  Builder         // what it was built with
	life     context.Context // ends with Close
	end      context.CancelFunc
	turns    chan struct{} // as many as may connect at the same time
	applying chan struct{} // full while the backends are changed
	shared   *shared
	routes   atomic.Pointer[routes]

	supervising sync.WaitGroup
	closing     sync.Once
	closed      error

	routing  sync.Mutex // held while the routes are made anew; guards what follows
	members  []*member
	onChange []func(Change)
	onState  []func(BackendReport)
}

func newSession(builder Builder) *Session {
	s := &Session{builder: builder, shared: newShared(builder), turns: make(chan struct{}, builder.concurrency()), applying: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	s.routes.Store(newRoutes(nil, builder.Names))
	return s
}

// newMember returns a member that has not been started.
func (s *Session) newMember(ctx context.Context, backend Backend) *member {
	m := newMember(backend.clone(), s.shared, s.builder.logger())
	m.origin = context.WithoutCancel(ctx)
	m.life, m.end = context.WithCancel(s.life)
	return m
}

// start starts the supervisor of a member, unless the session is closed.
func (s *Session) start(m *member) bool {
	s.routing.Lock() // Close must not begin to wait in between
	defer s.routing.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.supervising.Go(func() { s.supervise(m) })
	return true
}

// all returns the members, in their order.
func (s *Session) all() []*member {
	s.routing.Lock()
	defer s.routing.Unlock()
	return s.members
}

// ErrClosed says that a call came after [Session.Close], or was ended by it.
var ErrClosed = errors.New("vmcp: the session is closed")

// Report says how each backend stands.
func (s *Session) Report() Report {
	members := s.all()
	report := Report{Backends: make([]BackendReport, len(members))}
	for i, m := range members {
		report.Backends[i] = s.reportOf(m)
	}
	return report
}

func (s *Session) reportOf(m *member) BackendReport {
	return m.report(s.routes.Load().leftOut[m])
}

// Tools returns all tools under their exposed names, sorted by name.
func (s *Session) Tools() []mcp.Tool { return slices.Clone(s.routes.Load().tools) }

// Tool returns the tool of an exposed name, and whether there is one.
func (s *Session) Tool(name string) (mcp.Tool, bool) {
	tools := s.routes.Load().tools
	i, ok := slices.BinarySearchFunc(tools, name, func(t mcp.Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return mcp.Tool{}, false
	}
	return tools[i], true
}

// Prompts returns all prompts under their exposed names, sorted by name.
func (s *Session) Prompts() []mcp.Prompt { return slices.Clone(s.routes.Load().prompts) }

// Resources returns all resources, backend by backend.
func (s *Session) Resources() []mcp.Resource { return slices.Clone(s.routes.Load().resources) }

// ResourceTemplates returns all resource templates, backend by backend.
func (s *Session) ResourceTemplates() []mcp.ResourceTemplate {
	return slices.Clone(s.routes.Load().templates)
}

// HasCompletions says whether a backend that has prompts or resources
// advertises completions of their arguments.
func (s *Session) HasCompletions() bool {
	return slices.ContainsFunc(s.all(), (*member).completes)
}

// Close ends the calls in flight, with [ErrClosed], and the attempts to connect,
// and closes all backends, side by side. Closing again returns the first error.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.routing.Lock()
		s.end()
		s.routing.Unlock()
		s.supervising.Wait()
		var failures []error
		for _, m := range s.all() {
			failures = append(failures, m.closed)
		}
		s.closed = errors.Join(failures...)
	})
	return s.closed
}
