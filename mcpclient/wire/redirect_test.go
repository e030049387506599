package wire_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// hops follows redirects from one URL to the next and returns the requests that
// the servers saw.
func hops(t *testing.T, header http.Header, urls ...string) []*http.Request {
	t.Helper()
	var seen []*http.Request
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		seen = append(seen, req)
		a := said(200, `{}`)
		if len(seen) < len(urls) {
			a = said(307, "").with("Location", urls[len(seen)])
		}
		resp, _ := a.response(nil) // a Base need not name the request
		return resp, nil
	})
	req := request(t, http.MethodPost, urls[0], callTwo)
	req.Header = header.Clone()
	resp, err := (&http.Client{Transport: &wire.Transport{Base: base}}).Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Len(t, seen, len(urls))
	return seen
}

func TestHeadersOnRedirect(t *testing.T) {
	t.Parallel()
	harmless := http.Header{
		"Accept":               {streamableAccept},
		"Accept-Encoding":      {"identity"},
		"Accept-Language":      {"de"},
		"Cache-Control":        {"no-cache"},
		"Connection":           {"keep-alive"},
		"Content-Length":       {"47"},
		"Content-Type":         {jsonType},
		"Mcp-Method":           {"tools/call"},
		"Mcp-Protocol-Version": {"2026-07-28"},
		"User-Agent":           {"candor", "twice"},
	}
	all := harmless.Clone()
	for _, name := range []string{
		"Authorization", "Cookie", "Last-Event-Id", "Mcp-Name", "Mcp-Param-Tenant",
		"Mcp-Session-Id", "Proxy-Authorization", "Referer", "Traceparent", "X-Api-Key",
	} {
		all.Set(name, "sesame")
	}

	tests := map[string]struct {
		urls     []string
		stripped bool
	}{
		"same origin":                         {[]string{"https://a.example/mcp", "https://a.example/v2"}, false},
		"same origin, port spelt out":         {[]string{"https://a.example/mcp", "https://a.example:443/mcp"}, false},
		"same origin, host in capitals":       {[]string{"http://a.example/mcp", "http://A.EXAMPLE/mcp"}, false},
		"same origin on a port of its own":    {[]string{"http://a.example:8080/mcp", "http://a.example:8080/v2"}, false},
		"http to https":                       {[]string{"http://a.example/mcp", "https://a.example/mcp"}, false},
		"http to https, then on":              {[]string{"http://a.example/mcp", "https://a.example/mcp", "https://a.example/v2"}, false},
		"https to http":                       {[]string{"https://a.example/mcp", "http://a.example/mcp"}, true},
		"http to https on another port":       {[]string{"http://a.example/mcp", "https://a.example:8443/mcp"}, true},
		"http on another port to https":       {[]string{"http://a.example:8080/mcp", "https://a.example/mcp"}, true},
		"https to http on one port":           {[]string{"https://a.example:8443/mcp", "http://a.example:8443/mcp"}, true},
		"another port":                        {[]string{"http://a.example:8080/mcp", "http://a.example:8081/mcp"}, true},
		"another host":                        {[]string{"https://a.example/mcp", "https://b.example/mcp"}, true},
		"a subdomain":                         {[]string{"https://a.example/mcp", "https://www.a.example/mcp"}, true},
		"the domain above":                    {[]string{"https://www.a.example/mcp", "https://a.example/mcp"}, true},
		"another host, then stays there":      {[]string{"https://a.example/mcp", "https://b.example/mcp", "https://b.example/v2"}, true},
		"another host at the second hop":      {[]string{"https://a.example/mcp", "https://a.example/v2", "https://b.example/mcp"}, true},
		"another host and back":               {[]string{"https://a.example/mcp", "https://b.example/mcp", "https://a.example/v2"}, true},
		"another host with a user of its own": {[]string{"https://a.example/mcp", "https://u:p@b.example/mcp"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := hops(t, all, tt.urls...)
			assert.Equal(t, all, seen[0].Header, "the first request keeps everything")
			last := seen[len(seen)-1]
			assert.Nil(t, last.URL.User)
			if tt.stripped {
				assert.Equal(t, harmless, last.Header)
				return
			}
			for _, name := range []string{"X-Api-Key", "Mcp-Session-Id", "Mcp-Name", "Mcp-Param-Tenant", "Accept"} {
				assert.Equal(t, all.Get(name), last.Header.Get(name), name)
			}
		})
	}
}

func TestRedirectedRequestKeepsItsBody(t *testing.T) {
	t.Parallel()
	seen := hops(t, http.Header{}, "https://a.example/mcp", "https://b.example/mcp")
	body, err := seen[1].GetBody()
	require.NoError(t, err)
	assert.Equal(t, callTwo, readAndClose(t, &http.Response{Body: body}))
	assert.Equal(t, int64(len(callTwo)), seen[1].ContentLength)
}

func TestRedirectOfUnknownOriginIsStripped(t *testing.T) {
	t.Parallel()
	var seen http.Header
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		seen = req.Header
		resp, _ := said(200, `{}`).response(req)
		return resp, nil
	})
	req := streamablePost(t, callTwo)
	req.Header.Set("X-Api-Key", "sesame")
	req.Response = &http.Response{} // names no request
	_, err := (&wire.Transport{Base: base}).RoundTrip(req)
	require.NoError(t, err)
	assert.NotContains(t, seen, "X-Api-Key")
	assert.Contains(t, seen, "Accept")

	_, _, err = said(503, `{}`).roundTrip(req)
	require.Error(t, err, "a POST is a POST, wherever it comes from")
}
