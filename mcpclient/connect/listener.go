package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// listener keeps up the one stream on which a server of protocol 2026-07-28
// tells what changed, for as long as its connection is open.
type listener struct {
	client *client.Client
	lists  mcp.SubscriptionFilter // those whose changes the server advertises to tell
	log    func(ctx context.Context, message string, reason error)
	again  func()        // what [OnReopened] asks for
	wait   time.Duration // for an acknowledgement
	end    context.CancelFunc
	ended  chan struct{}

	mu    sync.Mutex
	now   *wish
	heard bool  // the server has acknowledged one
	lost  bool  // the stream ended since
	deaf  error // why it never will
}

// wish is what the stream is opened for.
type wish struct {
	filter   mcp.SubscriptionFilter
	replaced context.Context // ends when another takes its place
	replace  context.CancelFunc
	sent     *wire.Exchange // of the last request for it; nil before
	answered chan struct{}  // closed when the server has acknowledged or refused
	granted  []string
	err      error
}

func newWish(filter mcp.SubscriptionFilter) *wish {
	w := &wish{filter: filter, answered: make(chan struct{})}
	w.replaced, w.replace = context.WithCancel(context.Background())
	return w
}

// listen begins to listen. Resources that were subscribed to before are in it.
func (c *connection) listen(has mcp.ServerCapabilities, a attempt) {
	l := &listener{
		client: c.Client, lists: listsOf(has), ended: make(chan struct{}),
		log: a.listening, again: a.options.reopened, wait: a.options.timeouts.Handshake,
	}
	l.now = newWish(l.filter(c.PendingSubscriptionFilter().ResourceSubscriptions))
	c.OnNotification(l.acknowledged)
	life, end := context.WithCancel(context.Background())
	l.end = end
	c.listener = l
	go l.run(life)
}

func listsOf(has mcp.ServerCapabilities) mcp.SubscriptionFilter {
	return mcp.SubscriptionFilter{
		ToolsListChanged:     has.Tools != nil && has.Tools.ListChanged,
		PromptsListChanged:   has.Prompts != nil && has.Prompts.ListChanged,
		ResourcesListChanged: has.Resources != nil && has.Resources.ListChanged,
	}
}

func (l *listener) filter(uris []string) mcp.SubscriptionFilter {
	filter := l.lists
	filter.ResourceSubscriptions = uris
	return filter
}

// run opens the stream again whenever it ends, or something else is wished for.
func (l *listener) run(ctx context.Context) {
	defer close(l.ended)
	for tries := 0; ctx.Err() == nil; {
		w := l.current()
		began := time.Now()
		err := l.hold(ctx, w)
		switch {
		case ctx.Err() != nil:
			return
		case w.replaced.Err() != nil:
			tries = 0
			continue
		case l.refused(err):
			l.refuse(ctx, w, err)
			waitFor(ctx, w.replaced)
			continue
		case time.Since(began) >= steady:
			tries = 0
		}
		l.lose()
		within, cancel := either(ctx, w.replaced)
		sleep(within, pause(tries))
		cancel()
		tries++
	}
}

func (l *listener) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = l.heard
}

// hold keeps the stream open until it ends. There is none for nothing.
func (l *listener) hold(ctx context.Context, w *wish) error {
	within, cancel := either(ctx, w.replaced)
	defer cancel()
	if w.filter.IsEmpty() || l.isDeaf() != nil {
		<-within.Done()
		return nil
	}
	within, exchange := wire.WithExchange(within)
	l.mu.Lock()
	w.sent = exchange
	l.mu.Unlock()
	return l.client.Listen(within, w.filter)
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

// refused says whether the server will not have it, rather than that something
// came between. What it once acknowledged it is asked for again.
func (l *listener) refused(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var broken *transport.Error
	var network *url.Error
	var status *wire.StatusError
	switch {
	case err == nil, l.heard:
		return false
	case !errors.As(err, &broken): // an error of JSON-RPC, or an answer that cannot be read
		return true
	case errors.As(err, &status):
		return !temporary(status.StatusCode)
	default:
		return !errors.As(err, &network) && !errors.Is(err, transport.ErrTransportClosed) && !errors.Is(err, context.DeadlineExceeded)
	}
}

func (l *listener) refuse(ctx context.Context, w *wish, err error) {
	l.log(ctx, "the server does not tell what changes", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, mcp.ErrMethodNotFound) {
		l.deaf = err
	}
	w.settle(nil, err)
}

func (w *wish) settle(granted []string, err error) {
	select {
	case <-w.answered:
	default:
		w.granted, w.err = granted, err
		close(w.answered)
	}
}

// isMeant says whether an acknowledgement is that of this wish: it may still be
// that of one before. Without the id of a request it is.
func (w *wish) isMeant(acknowledgement mcp.JSONRPCNotification) bool {
	id, has := acknowledgement.Params.Meta[mcp.MetaKeySubscriptionID]
	facts := w.sent.Facts()
	if !has || w.sent != nil && !facts.Sent { // a transport that does not tell
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
	if !l.now.isMeant(notification) {
		return
	}
	if l.lost {
		l.again()
	}
	l.heard, l.lost = true, false
	l.now.settle(params.Notifications.ResourceSubscriptions, nil)
}

func (l *listener) current() *wish {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *listener) isDeaf() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deaf
}

// change replaces the resources that are listened for, unless nothing changes.
func (l *listener) change(how func(uris []string) []string) *wish {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.now.filter.ResourceSubscriptions
	after := how(slices.Clone(before))
	if slices.Equal(before, after) {
		return l.now
	}
	old := l.now
	l.now = newWish(l.filter(after))
	old.replace()
	return l.now
}

// subscribe listens for a resource as well. It waits until the server says that
// it will tell.
func (l *listener) subscribe(ctx context.Context, uri string) error {
	if err := l.isDeaf(); err != nil {
		return err
	}
	w := l.change(func(uris []string) []string {
		if slices.Contains(uris, uri) {
			return uris
		}
		return append(uris, uri)
	})
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	err := l.granted(ctx, w, uri)
	if err != nil {
		l.unsubscribe(uri)
	}
	return err
}

// granted waits for the answer to a wish, or to the one that took its place, as
// long as that has the resource.
func (l *listener) granted(ctx context.Context, w *wish, uri string) error {
	select {
	case <-w.answered:
	case <-w.replaced.Done():
		if w = l.current(); !slices.Contains(w.filter.ResourceSubscriptions, uri) {
			return nil // given up meanwhile
		}
		return l.granted(ctx, w, uri)
	case <-ctx.Done():
		return fmt.Errorf("the server did not acknowledge the subscription: %w", ctx.Err())
	}
	if w.err == nil && !slices.Contains(w.granted, uri) {
		return fmt.Errorf("%w: the server does not tell when %q changes", mcp.ErrMethodNotFound, uri)
	}
	return w.err
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
