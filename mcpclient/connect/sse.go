package connect

import (
	"context"
	"io"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// SSE is a server reached over the older HTTP+SSE transport of protocol
// 2024-11-05. It is never asked for a newer protocol than
// [mcp.LATEST_LEGACY_PROTOCOL_VERSION].
type SSE struct {
	URL          string            // as in HTTP: where the event stream is
	Headers      map[string]string // as in HTTP
	RoundTripper http.RoundTripper // as in HTTP
}

// Dial returns a transport for the URL, or an error if it cannot be one.
func (s SSE) Dial(ctx context.Context) (transport.Interface, error) {
	return s.dial(ctx, options{})
}

func (s SSE) dial(_ context.Context, o options) (transport.Interface, error) {
	address, through, err := privateTo(s.URL, s.RoundTripper, o.maxBody)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: stream{through}, CheckRedirect: hideQuery}
	t, err := transport.NewSSE(address, transport.WithHTTPClient(client), transport.WithHeaders(maps.Clone(s.Headers)),
		transport.WithEndpointTimeout(math.MaxInt64)) // the time-out of the handshake holds
	if err != nil {
		return nil, err
	}
	return &sseTransport{t, client}, nil
}

// String returns the URL without anything that may be secret.
func (s SSE) String() string { return bareURL(s.URL) }

func (s SSE) secrets() []string { return webSecrets(s.URL, s.Headers) }

type sseTransport struct {
	*transport.SSE
	client *http.Client
}

// RequiresLegacyProtocol tells mcp-go to spare the probe.
func (t *sseTransport) RequiresLegacyProtocol() bool { return true }

func (t *sseTransport) Close() error {
	defer t.client.CloseIdleConnections()
	return t.SSE.Close()
}

// SendRequest says what a time-out is: mcp-go v1.2.1 has no type for it, and
// if the deadline passes just before the context ends, neither an answer nor
// an error.
func (t *sseTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := send(ctx, t.SSE, request)
	deadline, bounded := ctx.Deadline()
	if response == nil && bounded && !time.Now().Before(deadline) && ctx.Err() != context.Canceled {
		return nil, context.DeadlineExceeded
	}
	return response, err
}

// stream makes a [wire.StatusError] of the status that refuses an event stream:
// mcp-go has no type for that either.
type stream struct{ *wire.Transport }

func (s stream) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.Transport.RoundTrip(req)
	if err != nil || req.Method != http.MethodGet || resp.StatusCode < 400 || resp.StatusCode == http.StatusUnauthorized {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what there is of it
	return nil, &wire.StatusError{StatusCode: resp.StatusCode, Method: req.Method, URL: bare(req.URL), Body: string(body)}
}
