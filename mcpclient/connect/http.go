package connect

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// HTTP is a server reached over streamable HTTP.
type HTTP struct {
	// URL is an absolute http or https URL. Its query and its user name and
	// password are sent and stay out of errors and logs.
	URL string
	// Headers go with every request, but never to another host that a
	// redirect names.
	Headers map[string]string
	// RoundTripper makes the requests, beneath [wire.Transport]. Nil means a
	// clone of [http.DefaultTransport] that belongs to the connection.
	RoundTripper http.RoundTripper
}

// Dial returns a transport for the URL, or an error if it cannot be one.
func (h HTTP) Dial(ctx context.Context) (transport.Interface, error) {
	return h.dial(ctx, options{})
}

func (h HTTP) dial(_ context.Context, o options) (transport.Interface, error) {
	address, through, err := privateTo(h.URL, h.RoundTripper, o.maxBody)
	if err != nil {
		return nil, err
	}
	headers := maps.Clone(h.Headers)
	life, giveUp := context.WithCancel(context.Background())
	client := &http.Client{Transport: farewell{through, headers, life}, CheckRedirect: hideQuery}
	settings := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(client), transport.WithHTTPHeaders(headers),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)), // what matters is an error, or logged here
	}
	var stream *getStream
	if o.listening {
		stream = newGetStream(client.Transport, o.logger.With(events.KeyServer, h.String()), o.reopened)
		client.Transport = stream
		settings = append(settings, transport.WithContinuousListening())
	}
	t, err := transport.NewStreamableHTTP(address, settings...)
	if err != nil {
		giveUp()
		return nil, err
	}
	return &httpTransport{StreamableHTTP: t, address: address, headers: headers, client: client, life: life, giveUp: giveUp, stream: stream}, nil
}

// String returns the URL without anything that may be secret.
func (h HTTP) String() string { return bareURL(h.URL) }

func (h HTTP) secrets() []string { return webSecrets(h.URL, h.Headers) }

// httpTransport closes its idle connections with the session.
type httpTransport struct {
	*transport.StreamableHTTP
	address string
	headers map[string]string
	client  *http.Client
	life    context.Context
	giveUp  context.CancelFunc // ends life, and the wait for an answer to the DELETE
	stream  *getStream         // nil if it does not listen
	version atomic.Value       // string
	turn    turn
}

// RequiresLegacyProtocol lets mcp-go probe for the newest protocol all the same:
// there it does not send the GET, and [connection] listens.
func (t *httpTransport) RequiresLegacyProtocol() bool { return false }

// SetProtocolVersion keeps the version for what mcp-go does not send itself, or
// makes before it is settled.
func (t *httpTransport) SetProtocolVersion(version string) {
	t.StreamableHTTP.SetProtocolVersion(version)
	t.version.Store(version)
}

// SendNotification lets the GET through once the handshake is over.
func (t *httpTransport) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	err := t.notify(ctx, notification)
	if err == nil && t.stream != nil && notification.Method == string(mcp.MethodNotificationInitialized) {
		version, _ := t.version.Load().(string)
		t.stream.allow(version)
	}
	return err
}

// SendRequest tells the exchange of the call, when it is its turn.
func (t *httpTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	for tries := 0; ; tries++ {
		if err := t.turn.wait(ctx); err != nil {
			return nil, err
		}
		response, err := send(ctx, t.StreamableHTTP, request)
		if !t.turn.again(ctx, request.Method, tries, err) {
			return response, err
		}
	}
}

// notify sends a notification when it is its turn.
func (t *httpTransport) notify(ctx context.Context, notification mcp.JSONRPCNotification) error {
	for tries := 0; ; tries++ {
		if err := t.turn.wait(ctx); err != nil {
			return err
		}
		err := t.StreamableHTTP.SendNotification(ctx, notification)
		if !t.turn.again(ctx, notification.Method, tries, err) {
			return err
		}
	}
}

func (t *httpTransport) Close() error {
	defer t.client.CloseIdleConnections()
	defer t.giveUp()
	return t.StreamableHTTP.Close()
}

func (t *httpTransport) abandon() { t.giveUp() }

// privateTo returns the address that mcp-go may know and a transport that knows
// the rest of the URL.
func privateTo(rawURL string, base http.RoundTripper, maxBody int64) (string, *wire.Transport, error) {
	target, err := parseURL(rawURL)
	if err != nil {
		return "", nil, err
	}
	return bare(target), &wire.Transport{Base: &private{base: ownedOr(base), home: target}, MaxBody: maxBody}, nil
}

// dialTimeout is how long a connection to a host may take. A host that swallows
// packets then costs one attempt, not the handshake's time on two protocols.
const dialTimeout = 5 * time.Second

func dialBounded(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// ownedOr returns a transport whose idle connections are the client's to
// close, or one that others may be using and that hides them.
func ownedOr(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
		if shared, ok := base.(*http.Transport); ok {
			own := shared.Clone()
			own.DialContext = dialBounded(shared.DialContext)
			return own
		}
	}
	return struct{ http.RoundTripper }{base}
}
