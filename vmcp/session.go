package vmcp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/lifetime"
)

// A Session is many backends behind one set of tools, resources and prompts.
// It is safe for concurrent use. Every call costs its backend exactly one
// request, or none where the session knows that nobody serves it; there may be
// another one only after the server has lost its session, and where the first was
// certainly not sent.
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
	roster   atomic.Pointer[roster]

	supervising lifetime.Group
	closing     sync.Once
	closed      error

	// mu is held while there is a new roster made, and guards what follows.
	mu       sync.Mutex
	failures []error // of closing connections with the session
	onChange []func(Change)
	onState  []func(BackendReport)
}

func newSession(builder Builder) *Session {
	s := &Session{builder: builder, shared: newShared(builder), turns: make(chan struct{}, builder.concurrency()), applying: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	s.roster.Store(newRoster(nil, builder.Names, nil))
	return s
}

// all returns the members, in their order.
func (s *Session) all() []*member { return s.roster.Load().members }

// member returns the one of a backend's ID.
func (s *Session) member(id string) (*member, error) {
	if m := s.roster.Load().member(id); m != nil {
		return m, nil
	}
	return nil, &UnknownError{Kind: "backend", Name: id}
}

// Report says how each backend stands.
func (s *Session) Report() Report {
	r := s.roster.Load()
	report := Report{Backends: make([]BackendReport, len(r.members))}
	for i, m := range r.members {
		report.Backends[i] = r.reportOf(m)
	}
	return report
}

// Tools returns all tools under their exposed names, sorted by name.
func (s *Session) Tools() []mcp.Tool { return slices.Clone(s.roster.Load().tools) }

// Tool returns the tool of an exposed name, and whether there is one.
func (s *Session) Tool(name string) (mcp.Tool, bool) { return s.roster.Load().exposed(name) }

// Prompts returns all prompts under their exposed names, sorted by name.
func (s *Session) Prompts() []mcp.Prompt { return slices.Clone(s.roster.Load().prompts) }

// Resources returns all resources, backend by backend.
func (s *Session) Resources() []mcp.Resource { return slices.Clone(s.roster.Load().resources) }

// ResourceTemplates returns all resource templates, backend by backend.
func (s *Session) ResourceTemplates() []mcp.ResourceTemplate {
	return slices.Clone(s.roster.Load().templates)
}

// HasCompletions says whether a backend that has prompts or resources
// advertises completions of their arguments.
func (s *Session) HasCompletions() bool { return slices.ContainsFunc(s.all(), (*member).completes) }

// HasLogging says whether a backend advertises log messages.
func (s *Session) HasLogging() bool { return slices.ContainsFunc(s.all(), (*member).logs) }

// HasSubscriptions says whether a backend advertises that one can subscribe to
// its resources.
func (s *Session) HasSubscriptions() bool { return slices.ContainsFunc(s.all(), (*member).subscribes) }

// OnNotification makes the session call f for what a backend tells unasked: log
// messages, updated resources, progress that no call here asked for, and
// whatever else, but not for changed lists, which lead to [Session.OnChange]. What the
// protocol says about the connection to the backend has been taken out of its
// _meta. f is called on the goroutine that reads from the backend, in the order
// in which the backend told it, and must not block.
func (s *Session) OnNotification(f func(backendID string, n mcp.JSONRPCNotification)) {
	s.shared.listen(f)
}

// Refresh asks a backend for its lists again, through the same chain as the
// first time, and says whether they changed. A session does so by itself when
// a backend says that a list changed. Should a list fail, the session keeps
// the lists that it had for as long as [Builder.StaleFor] says and asks again
// by itself, the report says that they are old and why, and the error is the
// backend's, an [*UnavailableError] or an [*UnknownError].
func (s *Session) Refresh(ctx context.Context, id string) (changed bool, err error) {
	m, err := s.member(id)
	if err != nil {
		return false, err
	}
	return m.refresh(ctx)
}

// Probe asks whether a backend is alive, with one request, and returns nil if
// it is. A server that answers ping with -32601 is alive: it answered. On
// protocol 2026-07-28, which has no ping, the first page of the tools is asked
// for, or server/discover where there are none; no list that a server may lack
// is ever a probe. The error is the backend's, an [*UnavailableError] or an
// [*UnknownError].
func (s *Session) Probe(ctx context.Context, id string) error {
	m, err := s.member(id)
	if err != nil {
		return err
	}
	return m.probe(ctx)
}

// Close ends the calls in flight, with [ErrClosed], and the attempts to connect,
// and closes all backends, side by side. Closing again returns the first error.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.end()
		s.supervising.Close()
		s.supervising.Wait()
		s.closed = errors.Join(s.failures...)
	})
	return s.closed
}
