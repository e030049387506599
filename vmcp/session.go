package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"golang.org/x/sync/errgroup"
)

// A Session is many backends behind one set of tools, resources and prompts.
// It is safe for concurrent use. Every call costs its backend exactly one
// request, or none where the session knows that nobody serves it.
type Session struct {
	members     []*member
	routing     sync.Mutex // held while the routes are made anew
	onChange    []func()
	routes      atomic.Pointer[routes]
	listTimeout time.Duration
	callTimeout time.Duration
	life        context.Context // ends with Close
	end         context.CancelFunc
	watching    sync.WaitGroup
	closing     sync.Once
	closed      error
}

func newSession(members []*member, listTimeout, callTimeout time.Duration) *Session {
	s := &Session{members: members, listTimeout: listTimeout, callTimeout: callTimeout}
	s.life, s.end = context.WithCancel(context.Background())
	s.reroute()
	for _, m := range members {
		if m.client != nil {
			s.watching.Go(func() { s.watch(m) })
		}
	}
	return s
}

// OnChange makes the session call f each time that what it offers has changed,
// on the goroutine that noticed; f may be called by several at once.
func (s *Session) OnChange(f func()) {
	s.routing.Lock()
	defer s.routing.Unlock()
	s.onChange = append(s.onChange, f)
}

// reroute makes the routes anew, from what the backends list now.
func (s *Session) reroute() {
	s.routing.Lock()
	s.routes.Store(newRoutes(s.members))
	told := slices.Clone(s.onChange)
	s.routing.Unlock()
	for _, f := range told {
		f()
	}
}

// ErrClosed says that a call came after [Session.Close], or was ended by it.
var ErrClosed = errors.New("vmcp: the session is closed")

// Report says how each backend stands.
func (s *Session) Report() Report {
	report := Report{Backends: make([]BackendReport, len(s.members))}
	leftOut := s.routes.Load().leftOut
	for i, m := range s.members {
		report.Backends[i] = m.report(leftOut[m])
	}
	return report
}

// Tools returns all tools under their exposed names, sorted by name.
func (s *Session) Tools() []mcp.Tool { return slices.Clone(s.routes.Load().tools) }

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
	return slices.ContainsFunc(s.members, (*member).completes)
}

// Close ends the calls in flight, with [ErrClosed], and closes all backends,
// side by side. Closing again returns the first error.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.end()
		failures := make([]error, len(s.members))
		var group errgroup.Group
		for i, m := range s.members {
			if m.client == nil {
				continue
			}
			group.Go(func() error {
				if err := m.client.Close(); err != nil {
					failures[i] = fmt.Errorf("close backend %q: %w", m.ID, err)
				}
				return nil
			})
		}
		_ = group.Wait() // the failures are kept beside it, all of them
		s.watching.Wait()
		s.closed = errors.Join(failures...)
	})
	return s.closed
}
