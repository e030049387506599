package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// HasSubscriptions says whether a backend advertises that one can subscribe to
// its resources.
func (s *Session) HasSubscriptions() bool {
	return slices.ContainsFunc(s.all(), (*member).subscribes)
}

// Subscribe asks the backend that a resource belongs to, as [Session.ReadResource]
// finds it, to tell when it changes: see [Session.OnNotification]. A backend
// that comes back is asked again. The error is an [*UnknownError], [ErrClosed],
// the backend's own, or [mcp.ErrMethodNotFound] without a request to a
// backend that does not advertise subscriptions. Subscribing again is harmless.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	m, err := s.subscriptionTo(uri)
	if err != nil {
		return err
	}
	var asked *mcpclient.Client
	subscribe := func(client *mcpclient.Client, ctx context.Context, request mcp.SubscribeRequest) error {
		asked = client
		return client.Subscribe(ctx, request)
	}
	request := mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}, Header: m.forwarded(ctx)}
	if _, err := ask(ctx, s, m, silent(subscribe), request); err != nil {
		return err
	}
	m.subscribed(uri, asked)
	if now, err := s.member(m.ID); err == nil {
		now.poke() // it may have another connection, or another may have taken its place
	}
	return nil
}

// Unsubscribe ends what Subscribe began, with the same errors. The backend that
// was subscribed to is asked, whoever lists the resource now; one that is not
// there needs not be.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	m, err := s.subscriptionTo(uri)
	if err != nil {
		return err
	}
	before := m.unsubscribed(uri) // first: it must not come back with the backend
	request := mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri}, Header: m.forwarded(ctx)}
	_, err = ask(ctx, s, m, silent((*mcpclient.Client).Unsubscribe), request)
	if _, absent := errors.AsType[*UnavailableError](err); absent && before {
		return nil
	}
	return err
}

func (s *Session) subscriptionTo(uri string) (*member, error) {
	for _, m := range s.all() {
		if slices.Contains(s.shared.wishOf(m.ID).uris, uri) {
			return m, nil
		}
	}
	m, ok := s.ownerOf(uri)
	switch {
	case !ok:
		return nil, s.unknown("resource", uri)
	case !m.subscribes():
		return nil, s.blame(m, fmt.Errorf("%w: it does not offer subscriptions to its resources", mcp.ErrMethodNotFound))
	default:
		return m, nil
	}
}

// silent gives a method without a result one.
func silent[Req any](call func(*mcpclient.Client, context.Context, Req) error) func(*mcpclient.Client, context.Context, Req) (*struct{}, error) {
	return func(client *mcpclient.Client, ctx context.Context, request Req) (*struct{}, error) {
		return nil, call(client, ctx, request)
	}
}

// subscribes says whether the backend advertises subscriptions.
func (m *member) subscribes() bool {
	resources := m.has().Resources
	return resources != nil && resources.Subscribe
}

// subscribed takes down that a client of the backend was told to subscribe.
func (m *member) subscribed(uri string, told *mcpclient.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared.subscribe(m.ID, uri)
	if m.conn != nil && m.conn.client == told {
		m.conn.told.uris = append(m.conn.told.uris, uri)
	}
}

// unsubscribed takes down that the resource is not wanted any more, and says
// whether it was.
func (m *member) unsubscribed(uri string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.told.uris = slices.DeleteFunc(slices.Clone(m.conn.told.uris), func(u string) bool { return u == uri })
	}
	return m.shared.unsubscribe(m.ID, uri)
}
