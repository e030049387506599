package endpoint

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// SessionHeader names the session of a client on a protocol before 2026-07-28.
const SessionHeader = "Mcp-Session-Id"

// sessions are the clients that connected over HTTP, by their Mcp-Session-Id.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*Client
}

// open begins a session that nobody can find yet.
func (e *Endpoint) open(identity string) *Client {
	client := newClient(rand.Text(), identity, newOutbox(e.Logger))
	client.gone = e.disconnected
	return client
}

// keep makes a session findable, if there may be one more.
func (e *Endpoint) keep(client *Client) error {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	if len(e.sessions.byID) >= e.Sessions {
		return &Failure{Code: overloaded, Message: fmt.Sprintf("there are %d sessions already; try again later", e.Sessions)}
	}
	e.sessions.byID[client.id] = client
	return nil
}

// find returns the session of that identity; those of others do not exist.
func (e *Endpoint) find(id, identity string) (*Client, bool) {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	client, ok := e.sessions.byID[id]
	return client, ok && client.identity == identity
}

// forget makes a session impossible to find.
func (e *Endpoint) forget(client *Client) {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	delete(e.sessions.byID, client.id)
}

// endSession ends a session.
func (e *Endpoint) endSession(client *Client, why error) {
	e.forget(client)
	client.leave(why)
}

func (e *Endpoint) all() []*Client {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	return slices.Collect(maps.Values(e.sessions.byID))
}

func (e *Endpoint) endSessions() {
	for _, client := range e.all() {
		e.endSession(client, errClosing)
	}
}

// sweep ends idle sessions until the endpoint is shut down.
func (e *Endpoint) sweep() {
	ticker := time.NewTicker(max(e.Idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			for _, client := range e.all() {
				if client.expire(now, e.Idle) {
					e.forget(client)
				}
			}
		case <-e.ending.Done():
			return
		}
	}
}
