package endpoint_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
)

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		local, host string
		headers     headers
		ok          bool
	}{
		"no browser, from outside":         {"192.0.2.1:80", "gate.example", nil, true},
		"no browser, loopback":             {"127.0.0.1:8080", "127.0.0.1:8080", nil, true},
		"localhost":                        {"127.0.0.1:8080", "localhost:8080", nil, true},
		"LOCALHOST without a port":         {"[::1]:80", "LOCALHOST", nil, true},
		"IPv6":                             {"[::1]:8080", "[::1]:8080", nil, true},
		"IPv6 without a port":              {"[::1]:80", "[::1]", nil, true},
		"IPv4 in IPv6":                     {"[::ffff:127.0.0.1]:80", "127.0.0.1", nil, true},
		"rebinding":                        {"127.0.0.1:8080", "evil.example:8080", nil, false},
		"rebinding, own origin":            {"127.0.0.1:8080", "evil.example:8080", headers{"Origin": "http://evil.example:8080"}, false},
		"rebinding to IPv6":                {"[::1]:8080", "evil.example", nil, false},
		"no host":                          {"127.0.0.1:8080", "", nil, false},
		"a name that begins as localhost":  {"127.0.0.1:80", "localhost.evil.example", nil, false},
		"page of this server":              {"127.0.0.1:8080", "localhost:8080", headers{"Origin": "http://localhost:8080"}, true},
		"page of this server, TLS outside": {"10.0.0.1:80", "gate.example", headers{"Origin": "https://gate.example"}, true},
		"page of another port":             {"127.0.0.1:8080", "localhost:8080", headers{"Origin": "http://localhost:3000"}, false},
		"page of another site":             {"192.0.2.1:80", "gate.example", headers{"Origin": "https://evil.example"}, false},
		"sandboxed page":                   {"192.0.2.1:80", "gate.example", headers{"Origin": "null"}, false},
		"no origin at all":                 {"192.0.2.1:80", "gate.example", headers{"Origin": "gate.example"}, false},
		"fetched across sites":             {"192.0.2.1:80", "gate.example", headers{"Sec-Fetch-Site": "cross-site"}, false},
		"fetched by its own page":          {"192.0.2.1:80", "gate.example", headers{"Sec-Fetch-Site": "same-origin", "Origin": "https://gate.example"}, true},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			address, err := net.ResolveTCPAddr("tcp", c.local)
			assert.NoError(t, err)
			r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(address)), method, "/", nil)
			r.Host = c.host
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
			if method == http.MethodGet && c.headers["Origin"] == "" && c.headers["Sec-Fetch-Site"] != "" {
				continue // a link may lead here from anywhere; it streams nothing without a session
			}
			if err := endpoint.CheckOrigin(r); c.ok {
				assert.NoError(t, err, "%s %s", method, name)
			} else {
				assert.Error(t, err, "%s %s", method, name)
			}
		}
	}
	assert.NoError(t, endpoint.CheckOrigin(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)), "no connection, as in a test")
}
