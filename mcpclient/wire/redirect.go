package wire

import (
	"net/http"
	"net/url"
	"strings"
)

// harmlessHeaders are what a redirected request may take to another origin.
// Everything else might name a person, a session, a resource or an argument:
// Authorization, Cookie, X-Api-Key, Mcp-Session-Id, Mcp-Name, Mcp-Param-*,
// Last-Event-Id (an event of somebody's stream) and Referer, to which net/http
// gives the query of the previous URL.
var harmlessHeaders = []string{
	"Accept",
	"Accept-Encoding",
	"Accept-Language",
	"Cache-Control",
	"Connection",
	"Content-Length",
	"Content-Type",
	"Mcp-Method",
	"Mcp-Protocol-Version",
	"User-Agent",
}

// withoutSecrets returns req itself, or a clone with harmless headers only
// where a redirect has taken it away from the origin it was meant for.
func withoutSecrets(req *http.Request) *http.Request {
	if !leftOrigin(req) {
		return req
	}
	clone := req.Clone(req.Context())
	clone.Header = harmless(req.Header)
	clone.Trailer = nil
	if clone.URL != nil {
		clone.URL.User = nil
	}
	return clone
}

func harmless(header http.Header) http.Header {
	kept := make(http.Header, len(harmlessHeaders))
	for _, name := range harmlessHeaders {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = append([]string(nil), values...)
		}
	}
	return kept
}

// leftOrigin says whether any hop of the redirects that led to req was on
// another origin than the first. A way back does not count as home: the other
// host chose where it leads. An unknown first hop counts as another origin.
func leftOrigin(req *http.Request) bool {
	first := firstRequest(req)
	for hop := req; hop != first; hop = hop.Response.Request {
		if first == nil || !sameOrigin(first.URL, hop.URL) {
			return true
		}
	}
	return false
}

// answersPost says whether the caller sent a POST, whatever a redirect made
// of it.
func answersPost(req *http.Request) bool {
	if first := firstRequest(req); first != nil {
		req = first
	}
	return req.Method == http.MethodPost
}

// firstRequest is what the caller sent, before any redirect; nil when a hop
// does not say what led to it.
func firstRequest(req *http.Request) *http.Request {
	for req != nil && req.Response != nil {
		req = req.Response.Request
	}
	return req
}

// sameOrigin compares scheme, host and port. A step from http to https on one
// host, both on their default ports, stays at home: it only adds protection.
func sameOrigin(from, to *url.URL) bool {
	if from == nil || to == nil || !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	upgraded := from.Scheme == "http" && port(from) == "80" && to.Scheme == "https" && port(to) == "443"
	return upgraded || from.Scheme == to.Scheme && port(from) == port(to)
}

func port(u *url.URL) string {
	if u.Port() != "" {
		return u.Port()
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
