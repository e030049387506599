package endpoint

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
)

// longestOutbox is how many messages wait for a client that does not listen.
const longestOutbox = 256

// outbox holds messages until a client listens for them. Each goes to one
// listener.
type outbox struct {
	logger *slog.Logger

	mu      sync.Mutex
	waiting []waiting
	losing  bool          // and it was said
	full    chan struct{} // has something in it when there may be messages
}

type waiting struct {
	message any
	news    string // what it is the latest news of; empty if of nothing
}

// outdates says whether there is no need to send a message any more: it is news
// that w has too, or a question whose answer nobody waits for.
func (w waiting) outdates(old waiting) bool {
	q, asks := old.message.(*question)
	return asks && q.settled.Load() || w.news != "" && w.news == old.news
}

func newOutbox(logger *slog.Logger) *outbox {
	return &outbox{logger: logger, full: make(chan struct{}, 1)}
}

// send keeps the message. Of what says only that something changed, the last is
// enough; should there be too many others, the oldest notification is lost, and
// the log says so.
func (o *outbox) send(message any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	latest := waiting{message, newsOf(message)}
	o.waiting = slices.DeleteFunc(o.waiting, latest.outdates)
	if len(o.waiting) >= longestOutbox && !o.lose() {
		return errFull
	}
	o.waiting = append(o.waiting, latest)
	o.ring()
	return nil
}

// lose makes room: of the oldest notification, since somebody waits for the
// answer to a question.
func (o *outbox) lose() bool {
	oldest := slices.IndexFunc(o.waiting, func(w waiting) bool { _, ok := w.message.(mcp.JSONRPCNotification); return ok })
	if oldest < 0 {
		return false
	}
	if !o.losing {
		o.losing = true
		o.logger.Warn("a client does not listen, or not fast enough; it loses the oldest messages", slog.String(events.KeyEvent, events.MessageLost), slog.Int(events.KeyKept, longestOutbox))
	}
	o.waiting = slices.Delete(o.waiting, oldest, oldest+1)
	return true
}

func (o *outbox) ring() {
	select {
	case o.full <- struct{}{}:
	default:
	}
}

// next returns the oldest message that is still to be sent, and its JSON.
func (o *outbox) next() (message any, line []byte, ok bool) {
	for {
		message, ok = o.pop()
		if q, asks := message.(*question); asks && !q.settle() {
			continue
		}
		if !ok {
			return nil, nil, false
		}
		line, err := encode(message)
		if err == nil {
			return message, line, true
		}
		o.logger.Warn("a message for a client cannot be written as JSON", slog.String(events.KeyEvent, events.MessageLost), slog.String(events.KeyError, err.Error()))
	}
}

func (o *outbox) pop() (any, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		o.losing = false
		return nil, false
	}
	oldest := o.waiting[0].message
	o.waiting = slices.Delete(o.waiting, 0, 1)
	if len(o.waiting) > 0 {
		o.ring() // for another listener
	}
	return oldest, true
}

// putBack returns a message that could not be written.
func (o *outbox) putBack(message any) {
	if q, asks := message.(*question); asks {
		q.settled.Store(false)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.Insert(o.waiting, 0, waiting{message: message})
	o.ring()
}

// newsOf says what a notification is the latest news of, if it says only that
// something changed: a list, or a resource, to one subscription.
func newsOf(message any) string {
	n, ok := message.(mcp.JSONRPCNotification)
	if !ok {
		return ""
	}
	subscription, _ := n.Params.Meta[mcp.MetaKeySubscriptionID].(json.RawMessage)
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
		return n.Method + "\n" + string(subscription)
	case mcp.MethodNotificationResourceUpdated:
		uri, _ := n.Params.AdditionalFields["uri"].(string)
		return n.Method + "\n" + string(subscription) + "\n" + uri
	default:
		return ""
	}
}
