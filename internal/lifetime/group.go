// Package lifetime has what ends things: groups that nobody enters once they are
// closed, and contexts that end with either of two.
package lifetime

import "sync"

// A Group is what runs until something is closed: goroutines or requests. They
// enter as long as it is open; once it is closed nothing enters, so that waiting
// for the last to leave is safe. The zero Group is open. It is safe for
// concurrent use.
type Group struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{}
}

// Enter says whether one more may begin. If so, the caller calls Leave once it
// has ended.
func (g *Group) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// Leave says that one that had entered has ended.
func (g *Group) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.settle()
}

// Go runs f in a goroutine of the group, and says whether it does.
func (g *Group) Go(f func()) bool {
	if !g.Enter() {
		return false
	}
	go func() {
		defer g.Leave()
		f()
	}()
	return true
}

// Close keeps everything from entering from now on. It does not wait, and may be
// called again.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		g.settle()
	}
}

// Done is closed once the group is closed and everything has left it.
func (g *Group) Done() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done()
}

// Wait waits for Done.
func (g *Group) Wait() { <-g.Done() }

func (g *Group) settle() {
	if g.closed && g.inside == 0 {
		close(g.done())
	}
}

func (g *Group) done() chan struct{} {
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty
}
