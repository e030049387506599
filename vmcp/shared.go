package vmcp

import (
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
)

// shared is what the members of a session have in common, those that come later
// included.
type shared struct {
	instruments *instrument.Backends

	// mu guards what the callers want, and who hears what the backends say. It may
	// be taken while a member's is held, and not the other way round.
	mu         sync.Mutex
	listeners  []func(backendID string, n mcp.JSONRPCNotification)
	level      mcp.LoggingLevel    // "" if nobody set one
	claiming   int                 // callers of SetLevel that have not said yet whom they tell
	subscribed map[string][]string // the URIs, by the ID of the backend
}

func newShared(b Builder) *shared {
	return &shared{instruments: instrument.NewBackends(instrument.Config{MeterProvider: b.MeterProvider}), subscribed: map[string][]string{}}
}

func (s *shared) listen(f func(string, mcp.JSONRPCNotification)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(slices.Clip(s.listeners), f)
}

// handOn tells the listeners what a backend says.
func (s *shared) handOn(backendID string, n mcp.JSONRPCNotification) {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	for _, f := range listeners {
		f(backendID, n)
	}
}

// desiredOf returns what is wanted of the backend with an ID.
func (s *shared) desiredOf(id string) desired {
	s.mu.Lock()
	defer s.mu.Unlock()
	return desired{s.level, slices.Clone(s.subscribed[id])}
}

// claimLevel sets the level, and keeps the supervisors from applying it until
// claimed is called.
func (s *shared) claimLevel(level mcp.LoggingLevel) (claimed func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
	s.claiming++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.claiming--
	}
}

func (s *shared) isClaimed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claiming > 0
}

func (s *shared) subscribe(id, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.subscribed[id], uri) {
		s.subscribed[id] = append(s.subscribed[id], uri)
	}
}

// unsubscribe says whether the resource was subscribed to.
func (s *shared) unsubscribe(id, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.subscribed[id])
	s.subscribed[id] = slices.DeleteFunc(s.subscribed[id], func(u string) bool { return u == uri })
	return len(s.subscribed[id]) < before
}

// keepOnly drops the subscriptions to all other backends.
func (s *shared) keepOnly(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.subscribed {
		if !slices.Contains(ids, id) {
			delete(s.subscribed, id)
		}
	}
}
