package connect

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// private keeps the query and the user of a URL, which may be secrets, from
// mcp-go and http.Client, whose errors quote the URL they failed on. It adds
// the query to the requests for that URL; a redirect and the endpoint that an
// SSE server names carry their own. The user goes to all of the URL's host.
type private struct {
	base http.RoundTripper
	home *url.URL
}

func (p *private) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if query, redirected := req.Context().Value(hiddenQuery{}).(string); redirected {
		out.URL.RawQuery = query
	} else if req.URL.RawQuery == "" && req.URL.Path == p.home.Path {
		out.URL.RawQuery = p.home.RawQuery
	}
	user := p.home.User
	if password, ok := user.Password(); (ok || user.Username() != "") && req.Header.Get("Authorization") == "" && p.isHome(req) {
		out.SetBasicAuth(user.Username(), password)
	}
	return p.base.RoundTrip(out)
}

// isHome says whether neither the request nor a redirect that led to it has
// left the host, or given up TLS.
func (p *private) isHome(req *http.Request) bool {
	if req == nil || req.URL.Host != p.home.Host || req.URL.Scheme != p.home.Scheme && req.URL.Scheme != "https" {
		return false
	}
	return req.Response == nil || p.isHome(req.Response.Request)
}

// hiddenQuery is the key of a redirect's query in its context.
type hiddenQuery struct{}

// hideQuery is for the CheckRedirect of a client above private: the server may
// have put the query of the first URL into its redirect.
func hideQuery(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects") // as http.Client does
	}
	*req = *req.WithContext(context.WithValue(req.Context(), hiddenQuery{}, req.URL.RawQuery))
	req.URL.RawQuery = ""
	return nil
}

// CloseIdleConnections closes those of a transport that belongs to the client.
func (p *private) CloseIdleConnections() {
	if closer, ok := p.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// errURL is all that may be said about a URL that cannot be parsed: it may
// hold secrets anywhere.
var errURL = &TargetError{"the URL is not an absolute http or https URL, such as https://host/mcp", "correct the URL"}

var errNoURL = &TargetError{"the URL is empty", "give an absolute one, such as https://host/mcp"}

func parseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errNoURL
	}
	parsed, err := url.Parse(raw)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, errURL
	}
	return parsed, nil
}

func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

func bareURL(raw string) string {
	parsed, err := parseURL(raw)
	if err != nil {
		return "an invalid URL"
	}
	return bare(parsed)
}
