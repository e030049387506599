package endpoint

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Client is one connection of a client: a session over HTTP, a process at the
// other end of stdio, or one request of protocol 2026-07-28. It is safe for
// concurrent use.
type Client struct {
	id       string          // the Mcp-Session-Id; empty without one
	identity string          // who authenticated
	gone     func(*Client)   // is called once it has left and nothing of it is served
	life     context.Context // ends when it has left
	endLife  context.CancelFunc

	mu           sync.Mutex
	out          sink // for what belongs to no request; nil if there is nowhere
	version      string
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	level        mcp.LoggingLevel // of its own; empty until it sets one
	wants        *mcp.SubscriptionFilter
	asked        map[int64]chan *message
	lastAsked    int64
	silent       bool // it answers no more
	running      map[*run]bool
	lastSeen     time.Time
	listeners    int // open GET streams
	left         bool
}

func newClient(id, identity string, out sink) *Client {
	c := &Client{
		id: id, identity: identity, out: out, version: mcp.LATEST_LEGACY_PROTOCOL_VERSION, lastSeen: time.Now(),
		asked: map[int64]chan *message{}, running: map[*run]bool{}, gone: func(*Client) {},
	}
	c.life, c.endLife = context.WithCancel(context.Background())
	return c
}

// Identity is who authenticated, as [WithIdentity] said; empty means nobody
// had to.
func (c *Client) Identity() string { return c.identity }

// SessionID is what Mcp-Session-Id names; empty where there is none.
func (c *Client) SessionID() string { return c.id }

// Version is the protocol version that the client speaks.
func (c *Client) Version() string { c.mu.Lock(); defer c.mu.Unlock(); return c.version }

// Modern says whether the client is on protocol 2026-07-28 or later.
func (c *Client) Modern() bool { return mcp.IsModernProtocol(c.Version()) }

// Info is what the client calls itself.
func (c *Client) Info() mcp.Implementation { c.mu.Lock(); defer c.mu.Unlock(); return c.info }

// Capabilities are what the client says that it can be asked for.
func (c *Client) Capabilities() mcp.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// Level is the lowest level of log messages that the client wants; empty means
// that it did not say.
func (c *Client) Level() mcp.LoggingLevel { c.mu.Lock(); defer c.mu.Unlock(); return c.level }

// SetLevel changes the level.
func (c *Client) SetLevel(level mcp.LoggingLevel) { c.mu.Lock(); defer c.mu.Unlock(); c.level = level }

// introduce takes down who the client is.
func (c *Client) introduce(version string, info mcp.Implementation, capabilities mcp.ClientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version, c.info, c.capabilities = version, info, capabilities
}

// Notify sends a notification that belongs to no request, if the client has
// somewhere to receive it and, on protocol 2026-07-28, subscribed to it. It
// does not block; n must not be changed afterwards.
func (c *Client) Notify(n mcp.JSONRPCNotification) {
	c.mu.Lock()
	out, wanted, left := c.out, wants(c.wants, n), c.left
	c.mu.Unlock()
	if out != nil && wanted && !left {
		_ = out.send(n) // a client that has left needs no notification
	}
}

// run is a request that is being answered. A client may use an ID twice, though
// it should not.
type run struct {
	id     string
	cancel context.CancelCauseFunc
}

// errGone refuses a request whose session ended while it came in.
var errGone = &Failure{Code: mcp.INVALID_REQUEST, Message: "there is no such session, or no more; connect again with initialize"}

// errCancelled is why a request ends that the client gives up.
var errCancelled = &Failure{Code: mcp.REQUEST_INTERRUPTED, Message: "the client has cancelled the request"}

// register makes a request one that the client can cancel, unless it has left.
// The caller calls remove.
func (c *Client) register(id json.RawMessage, cancel context.CancelCauseFunc) (remove func(), err error) {
	this := &run{string(id), cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		return nil, errGone
	}
	c.lastSeen = time.Now()
	c.running[this] = true
	return func() { c.remove(this) }, nil
}

func (c *Client) remove(this *run) {
	c.mu.Lock()
	c.lastSeen = time.Now()
	delete(c.running, this)
	last := c.left && len(c.running) == 0
	c.mu.Unlock()
	if last {
		c.gone(c)
	}
}

// cancel ends the request that a notifications/cancelled names.
func (c *Client) cancel(params json.RawMessage) {
	var named struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &named) != nil {
		return // the protocol: malformed cancellations are ignored
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for running := range c.running {
		if running.id == string(named.RequestID) {
			running.cancel(errCancelled)
		}
	}
}

// leave ends everything of the client, once.
func (c *Client) leave(why error) { c.leaveIf(func() bool { return true }, why) }

// expire makes the client leave if it has been idle for so long.
func (c *Client) expire(now time.Time, limit time.Duration) bool {
	return c.leaveIf(func() bool { return c.idleFor(now) >= limit }, errGone)
}

// leaveIf ends everything of the client if the condition holds, with the lock
// held, and says whether it has.
func (c *Client) leaveIf(condition func() bool, why error) bool {
	c.mu.Lock()
	if c.left || !condition() {
		c.mu.Unlock()
		return false
	}
	c.left = true
	c.endLife()
	c.silence()
	for running := range c.running {
		running.cancel(why)
	}
	idle := len(c.running) == 0
	c.mu.Unlock()
	if idle {
		c.gone(c)
	}
	return true
}

// silence fails the open questions, and all later ones. The mutex is held.
func (c *Client) silence() {
	c.silent = true
	for id, answered := range c.asked {
		close(answered)
		delete(c.asked, id)
	}
}

// IdleFor says how long, at that time, the client has neither asked nor listened.
func (c *Client) IdleFor(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idleFor(now)
}

func (c *Client) idleFor(now time.Time) time.Duration {
	if c.listeners > 0 || len(c.running) > 0 {
		return 0
	}
	return now.Sub(c.lastSeen)
}

// listen counts an open GET stream. The caller calls stop.
func (c *Client) listen() (stop func()) {
	c.count(1)
	return func() { c.count(-1) }
}

func (c *Client) count(change int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners += change
	c.lastSeen = time.Now()
}

func (c *Client) touch() { c.count(0) }

// NewNotification returns a notification with those parameters.
func NewNotification(method string, params map[string]any) mcp.JSONRPCNotification {
	return mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
	}}
}
