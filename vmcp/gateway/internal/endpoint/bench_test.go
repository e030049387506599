package endpoint_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a writer that keeps nothing.
type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Flush()                      {}

// BenchmarkPost measures the endpoint alone, without a connection.
func BenchmarkPost(b *testing.B) {
	e := bounded(scripted(nil), endpoint.Options{Info: mcp.Implementation{Name: "gate", Version: "1"}})
	defer func() { assert.NoError(b, e.Shutdown(b.Context())) }()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	begun := &recorder{header: http.Header{}}
	r.Body = io.NopCloser(strings.NewReader(hello(legacy)))
	e.ServeHTTP(begun, r)
	require.Equal(b, http.StatusOK, begun.status)
	session := begun.header.Get(endpoint.SessionHeader)
	body, h := the("tools/call", `"name":"t","arguments":{"a":"b"}`)
	for name, c := range map[string]struct {
		body    string
		headers headers
	}{
		"legacy": {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{"a":"b"}}}`, headers{endpoint.SessionHeader: session}},
		"modern": {body, headers{"Mcp-Protocol-Version": modern, "Mcp-Method": h["Mcp-Method"], "Mcp-Name": "t"}},
	} {
		b.Run(name, func(b *testing.B) {
			r := r.Clone(b.Context())
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
			r.ContentLength = int64(len(c.body))
			b.ReportAllocs()
			for b.Loop() {
				w := &recorder{header: http.Header{}}
				r.Body = io.NopCloser(strings.NewReader(c.body))
				e.ServeHTTP(w, r)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkRoundTrip measures a call over a connection.
func BenchmarkRoundTrip(b *testing.B) {
	e := bounded(scripted(nil), endpoint.Options{})
	server := httptest.NewServer(e)
	defer server.Close()
	defer func() { assert.NoError(b, e.Shutdown(b.Context())) }()
	body, h := the("tools/call", `"name":"t","arguments":{"a":"b"}`)
	h["Mcp-Name"], h["Content-Type"], h["Accept"] = "t", "application/json", "application/json, text/event-stream"
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		require.NoError(b, err)
		for name, value := range h {
			r.Header.Set(name, value)
		}
		response, err := server.Client().Do(r)
		require.NoError(b, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(b, err)
		require.NoError(b, response.Body.Close())
		require.Equal(b, http.StatusOK, response.StatusCode)
	}
}
