package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// listener keeps up the one stream on which a server of protocol 2026-07-28
// tells what changed, for as long as its connection is open.
type listener struct {
	client   *client.Client
	lists    mcp.SubscriptionFilter // those whose changes the server advertises to tell
	log      func(ctx context.Context, message string, reason error)
	reopened func()        // what [OnReopened] asks for
	timeout  time.Duration // of an acknowledgement
	end      context.CancelFunc
	ended    chan struct{}

	mu      sync.Mutex
	desired *subscription
	opened  bool  // the server has acknowledged one
	lost    bool  // the stream ended since
	refusal error // why it never will
}

// subscription is what the stream is opened for.
type subscription struct {
	filter   mcp.SubscriptionFilter
	replaced context.Context // ends when another takes its place
	replace  context.CancelFunc
	sent     *wire.Exchange // of the last request for it; nil before
	answered chan struct{}  // closed when the server has acknowledged or refused
	granted  []string
	err      error
}

func newSubscription(filter mcp.SubscriptionFilter) *subscription {
	s := &subscription{filter: filter, answered: make(chan struct{})}
	s.replaced, s.replace = context.WithCancel(context.Background())
	return s
}

// listen begins to listen. Resources that were subscribed to before are in it.
func (c *connection) listen(has mcp.ServerCapabilities, a attempt) {
	l := &listener{
		client: c.Client, lists: listsOf(has), ended: make(chan struct{}),
		log: a.listening, reopened: a.options.reopened, timeout: a.options.timeouts.Handshake,
	}
	l.desired = newSubscription(l.filter(c.PendingSubscriptionFilter().ResourceSubscriptions))
	c.OnNotification(l.acknowledged)
	life, end := context.WithCancel(context.Background())
	l.end = end
	c.listener = l
	go l.run(life)
}

func listsOf(has mcp.ServerCapabilities) mcp.SubscriptionFilter {
	return mcp.SubscriptionFilter{
		ToolsListChanged:     capability.Tools.TellsChanges(has),
		PromptsListChanged:   capability.Prompts.TellsChanges(has),
		ResourcesListChanged: capability.Resources.TellsChanges(has),
	}
}

func (l *listener) filter(uris []string) mcp.SubscriptionFilter {
	filter := l.lists
	filter.ResourceSubscriptions = uris
	return filter
}

// run opens the stream again whenever it ends, or something else is desired.
func (l *listener) run(ctx context.Context) {
	defer close(l.ended)
	pauses := newPauses()
	for ctx.Err() == nil {
		s := l.current()
		began := time.Now()
		err := l.hold(ctx, s)
		switch {
		case ctx.Err() != nil:
			return
		case s.replaced.Err() != nil:
			pauses.Reset()
			continue
		case l.isRefusal(err):
			l.refuse(ctx, s, err)
			waitFor(ctx, s.replaced)
			continue
		case time.Since(began) >= steady:
			pauses.Reset()
		}
		l.lose()
		within, cancel := either(ctx, s.replaced)
		lifetime.Sleep(within, pauses.NextBackOff())
		cancel()
	}
}

func (l *listener) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = l.opened
}

// hold keeps the stream open until it ends. There is none for nothing.
func (l *listener) hold(ctx context.Context, s *subscription) error {
	within, cancel := either(ctx, s.replaced)
	defer cancel()
	if s.filter.IsEmpty() || l.refused() != nil {
		<-within.Done()
		return nil
	}
	within, exchange := wire.WithExchange(within)
	l.mu.Lock()
	s.sent = exchange
	l.mu.Unlock()
	return l.client.Listen(within, s.filter)
}

// either returns a context that ends with either.
func either(a, b context.Context) (context.Context, context.CancelFunc) {
	within, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return within, func() { stop(); cancel() }
}

func waitFor(a, b context.Context) {
	within, cancel := either(a, b)
	defer cancel()
	<-within.Done()
}

// isRefusal says whether the server will not have it, rather than that something
// came between. What it once acknowledged it is asked for again.
func (l *listener) isRefusal(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return err != nil && !l.opened && !failure.Of(err).Transient()
}

func (l *listener) refuse(ctx context.Context, s *subscription, err error) {
	l.log(ctx, "the server does not tell what changes", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if failure.IsMethodNotFound(err) {
		l.refusal = err
	}
	s.settle(nil, err)
}

func (s *subscription) settle(granted []string, err error) {
	select {
	case <-s.answered:
	default:
		s.granted, s.err = granted, err
		close(s.answered)
	}
}

// isMeant says whether an acknowledgement is that of this subscription: it may still be
// that of one before. Without the id of a request it is.
func (s *subscription) isMeant(acknowledgement mcp.JSONRPCNotification) bool {
	id, has := acknowledgement.Params.Meta[mcp.MetaKeySubscriptionID]
	facts := s.sent.Facts()
	if !has || s.sent != nil && !facts.Sent { // a transport that does not tell
		return true
	}
	said, err := json.Marshal(id)
	return err == nil && strings.Trim(string(said), `"`) == facts.RequestID
}

// acknowledged takes down what the server will tell.
func (l *listener) acknowledged(notification mcp.JSONRPCNotification) {
	if notification.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
		return
	}
	var params mcp.SubscriptionsAcknowledgedParams
	if data, err := json.Marshal(notification.Params); err == nil {
		_ = json.Unmarshal(data, &params) // then nothing is granted
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.desired.isMeant(notification) {
		return
	}
	if l.lost {
		l.reopened()
	}
	l.opened, l.lost = true, false
	l.desired.settle(params.Notifications.ResourceSubscriptions, nil)
}

func (l *listener) current() *subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.desired
}

func (l *listener) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusal
}

// change replaces the resources that are listened for, unless nothing changes.
func (l *listener) change(how func(uris []string) []string) *subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.desired.filter.ResourceSubscriptions
	after := how(slices.Clone(before))
	if slices.Equal(before, after) {
		return l.desired
	}
	old := l.desired
	l.desired = newSubscription(l.filter(after))
	old.replace()
	return l.desired
}

// subscribe listens for a resource as well. It waits until the server says that
// it will tell.
func (l *listener) subscribe(ctx context.Context, uri string) error {
	if err := l.refused(); err != nil {
		return err
	}
	s := l.change(func(uris []string) []string {
		if slices.Contains(uris, uri) {
			return uris
		}
		return append(uris, uri)
	})
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	err := l.granted(ctx, s, uri)
	if err != nil {
		l.unsubscribe(uri)
	}
	return err
}

// granted waits for the answer to a subscription, or to the one that took its place, as
// long as that has the resource.
func (l *listener) granted(ctx context.Context, s *subscription, uri string) error {
	select {
	case <-s.answered:
	case <-s.replaced.Done():
		if s = l.current(); !slices.Contains(s.filter.ResourceSubscriptions, uri) {
			return nil // given up meanwhile
		}
		return l.granted(ctx, s, uri)
	case <-ctx.Done():
		return fmt.Errorf("the server did not acknowledge the subscription: %w", ctx.Err())
	}
	if s.err == nil && !slices.Contains(s.granted, uri) {
		return fmt.Errorf("%w: the server does not tell when %q changes", mcp.ErrMethodNotFound, uri)
	}
	return s.err
}

func (l *listener) unsubscribe(uri string) {
	l.change(func(uris []string) []string {
		return slices.DeleteFunc(uris, func(u string) bool { return u == uri })
	})
}

// close ends the stream; await waits for that.
func (l *listener) close() { l.end() }
func (l *listener) await() { <-l.ended }

// listening logs why a server does not tell.
func (c *Connector) listening(ctx context.Context, message string, reason error) {
	c.options.logger.LogAttrs(ctx, slog.LevelInfo, message,
		slog.String(events.KeyEvent, events.Listening), slog.String(events.KeyServer, nameOf(c.target)), slog.String(events.KeyReason, c.Mask(reason.Error())))
}
