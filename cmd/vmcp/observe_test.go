package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
)

// collector keeps what is sent to it, by path.
type collector struct {
	mu   sync.Mutex
	sent map[string]string
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil {
		c.sent = map[string]string{}
	}
	c.sent[req.URL.Path] += string(body)
}

func TestACommandSendsWhatTheVariablesAskFor(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	got := vmcpWith(t, "tools", "--log-level", "warn")
	assert.Equal(t, statusOK, got.status, got.err)
	assert.Contains(t, c.sent["/v1/metrics"], "mcp.client.operation.duration")
	assert.Contains(t, c.sent["/v1/metrics"], "candor.contradictions")
	assert.Contains(t, c.sent["/v1/logs"], "capability_contradiction")
	assert.NotContains(t, c.sent["/v1/logs"], "backend ready", "INFO is below the level")
}

func TestAVariableThatIsWrongIsAMatterOfUsage(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "zipkin")
	got := vmcpWith(t, "tools")
	assert.Equal(t, statusUsage, got.status)
	assert.Contains(t, got.err, "the environment variable OTEL_TRACES_EXPORTER has a value that it cannot have; write one of otlp, console and none")
}

func TestTelemetryThatCannotBeSentIsSaidAndNoFailure(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20hush-hush")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	got := vmcpWith(t, "tools")
	assert.Equal(t, statusOK, got.status)
	assert.Contains(t, got.err, `"event":"telemetry_failed"`)
	assert.Contains(t, got.err, "connection refused")
	assert.NotContains(t, got.err, "hush-hush")
}

func TestSecretsOfAServerAreAllThatItWasConfiguredWith(t *testing.T) {
	program := connect.Stdio{Secrets: []string{"arg"}, Env: map[string]string{"A": "value", "HOME": "/home/joe"}}
	assert.Equal(t, []string{"value", "arg"}, secretsOf(program))
	assert.Contains(t, program.Env, "HOME", "the program gets it all the same")
	assert.Subset(t, secretsOf(connect.HTTP{
		URL:     "https://joe:password@x/?k=q",
		Headers: map[string]string{"Authorization": "Bearer token", "X": "raw", "cookie": "a=b; c=d"},
	}), []string{"Bearer token", "token", "raw", "a=b; c=d", "b", "d", "q", "joe", "password"})
}

func TestHeadersOfExportersAreSecrets(t *testing.T) {
	assert.Equal(t, []string{"Bearer%20a", "Bearer a", "a", "b", "b", ""}, headersOfExporters([]string{
		"PATH=x", "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20a,X=b", "OTEL_EXPORTER_OTLP_ENDPOINT=http://x",
	}))
}
