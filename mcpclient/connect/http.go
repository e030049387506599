package connect

import (
	"context"
	"maps"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"
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
func (h HTTP) Dial(context.Context) (transport.Interface, error) {
	address, through, err := privateTo(h.URL, h.RoundTripper)
	if err != nil {
		return nil, err
	}
	headers := maps.Clone(h.Headers)
	client := &http.Client{Transport: farewell{through, headers}, CheckRedirect: hideQuery}
	t, err := transport.NewStreamableHTTP(address, transport.WithHTTPBasicClient(client), transport.WithHTTPHeaders(headers))
	if err != nil {
		return nil, err
	}
	return &httpTransport{t, client}, nil
}

// String returns the URL without anything that may be secret.
func (h HTTP) String() string { return bareURL(h.URL) }

// httpTransport closes its idle connections with the session.
type httpTransport struct {
	*transport.StreamableHTTP
	client *http.Client
}

func (t *httpTransport) Close() error {
	defer t.client.CloseIdleConnections()
	return t.StreamableHTTP.Close()
}

// privateTo returns the address that mcp-go may know and a transport that knows
// the rest of the URL.
func privateTo(rawURL string, base http.RoundTripper) (string, *wire.Transport, error) {
	target, err := parseURL(rawURL)
	if err != nil {
		return "", nil, err
	}
	return bare(target), &wire.Transport{Base: &private{base: ownedOr(base), home: target}}, nil
}

// ownedOr returns a transport whose idle connections are the client's to
// close, or one that others may be using and that hides them.
func ownedOr(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
		if shared, ok := base.(*http.Transport); ok {
			return shared.Clone()
		}
	}
	return struct{ http.RoundTripper }{base}
}

// farewell adds the headers to the DELETE that ends a session, which mcp-go
// v1.2.1 sends without them.
type farewell struct {
	*wire.Transport
	headers map[string]string
}

func (f farewell) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodDelete {
		req = req.Clone(req.Context())
		for name, value := range f.headers {
			req.Header.Set(name, value)
		}
	}
	return f.Transport.RoundTrip(req)
}
