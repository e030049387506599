package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

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
	if _, err := ask(ctx, m, silent(subscribe), request); err != nil {
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
	_, err = ask(ctx, m, silent((*mcpclient.Client).Unsubscribe), request)
	if _, absent := errors.AsType[*UnavailableError](err); absent && before {
		return nil
	}
	return err
}

func (s *Session) subscriptionTo(uri string) (*member, error) {
	for _, m := range s.all() {
		if slices.Contains(s.shared.desiredOf(m.ID).uris, uri) {
			return m, nil
		}
	}
	r := s.roster.Load()
	m, _, ok := r.resource(uri)
	switch {
	case !ok:
		return nil, r.missing("resource", uri, s.builder.Names)
	case !m.subscribes():
		return nil, m.blame(context.Background(), fmt.Errorf("%w: it does not offer subscriptions to its resources", mcp.ErrMethodNotFound))
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
