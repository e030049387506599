package lifetime

import "sync"

// A Group is a [sync.WaitGroup] that can be closed: nothing enters it afterwards,
// so that who waits knows that there is nothing more to come. The zero value is
// open. It is safe for concurrent use.
type Group struct {
	mu     sync.Mutex // held while it closes or something enters
	closed bool
	inside sync.WaitGroup
}

// Enter counts something in unless the group is closed; who entered calls Leave.
func (g *Group) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside.Add(1)
	return true
}

// Leave counts it out.
func (g *Group) Leave() { g.inside.Done() }

// Go runs f on a goroutine of its own unless the group is closed.
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

// Close lets nothing more enter. Closing again is harmless.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Wait waits until all that entered has left. Who waits without having closed the
// group must know by itself that nothing enters meanwhile.
func (g *Group) Wait() { g.inside.Wait() }
