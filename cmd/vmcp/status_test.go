package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var dawn = time.Date(2026, 7, 28, 6, 0, 0, 0, time.UTC)

// reporting serves the status of the backends until the test ends, and returns
// where the endpoint is.
func reporting(t *testing.T, backends ...vmcp.BackendReport) string {
	t.Helper()
	board := status.NewBoard("v0.2.0")
	board.Set(vmcp.Report{Backends: backends})
	board.SetSessions(2)
	return newLoopback(t, status.Handler(board, status.Options{}))
}

// answers serves one answer to everything.
func answers(t *testing.T, code int, body string) string {
	t.Helper()
	return newLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
}

func TestStatusPrintsHowTheBackendsStand(t *testing.T) {
	endpoint := reporting(t,
		vmcp.BackendReport{ID: "good", State: vmcp.Ready, Since: dawn, Tools: 3},
		vmcp.BackendReport{ID: "old", State: vmcp.Degraded, Since: dawn, StaleSince: dawn.Add(time.Minute), Reason: "its lists are old", Remedy: "see its log"},
		vmcp.BackendReport{ID: "bad", State: vmcp.Failed, Since: dawn, Reason: "connection refused", Remedy: "start it", Attempts: 3, NextTry: dawn.Add(time.Hour)})
	got := vmcpWith(t, "status", "--url", endpoint)
	assert.Equal(t, statusFailed, got.status, got.err)
	first, rest, _ := strings.Cut(got.out, "\n")
	assert.Regexp(t, `^vmcp v0\.2\.0: degraded, sessions: 2, started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`, first)
	assert.Equal(t, `
BACKEND  STATE     TOOLS  RESOURCES  TEMPLATES  PROMPTS  REASON
good     ready     3      0          0          0        -
old      degraded  0      0          0          0        its lists are old
bad      failed    0      0          0          0        connection refused

old: see its log
bad: start it

old: degraded since 2026-07-28 06:00:00 UTC, lists old since 2026-07-28 06:01:00 UTC
bad: failed since 2026-07-28 06:00:00 UTC, tried 3 times in vain, next try 2026-07-28 07:00:00 UTC
`, rest)
	assert.Empty(t, got.err)
}

func TestStatusExitStatus(t *testing.T) {
	ready, degraded := vmcp.BackendReport{ID: "a", State: vmcp.Ready}, vmcp.BackendReport{ID: "b", State: vmcp.Degraded}
	failed, connecting := vmcp.BackendReport{ID: "c", State: vmcp.Failed}, vmcp.BackendReport{ID: "d", State: vmcp.Connecting}
	tests := map[string]struct {
		backends []vmcp.BackendReport
		want     int
	}{
		"all ready":           {[]vmcp.BackendReport{ready}, statusOK},
		"degraded":            {[]vmcp.BackendReport{ready, degraded}, 10},
		"connecting":          {[]vmcp.BackendReport{ready, connecting}, 10},
		"nothing known yet":   {nil, 10},
		"failed":              {[]vmcp.BackendReport{failed, ready}, 11},
		"failed and degraded": {[]vmcp.BackendReport{failed, degraded}, 11},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, "status", "--url", reporting(t, tt.backends...), "--json")
			assert.Equal(t, tt.want, got.status, got.err)
			var printed status.Document
			require.NoError(t, json.Unmarshal([]byte(got.out), &printed))
			assert.Len(t, printed.Backends, len(tt.backends))
		})
	}
}

func TestStatusAsJSONKeepsWhatItDoesNotKnow(t *testing.T) {
	got := vmcpWith(t, "status", "--json", "--url", answers(t, 200, `{"startedAt":"2026-07-28T06:00:00Z","state":"ready","news":1}`))
	assert.Equal(t, statusOK, got.status, got.err)
	assert.JSONEq(t, `{"startedAt":"2026-07-28T06:00:00Z","state":"ready","news":1}`, got.out)
}

func TestStatusSaysWhyThereIsNone(t *testing.T) {
	tests := map[string]struct {
		url     string
		remedy  string
		options []string
	}{
		"nobody listens":    {"http://127.0.0.1:1", "connection refused; is vmcp serve running, and is that where it listens (--url)?", nil},
		"a token is needed": {answers(t, 401, ""), "401 Unauthorized; name the file with its token with --auth-token-file", nil},
		"another server":    {answers(t, 404, "no"), "404 Not Found, which a vmcp serve does not; check --url", nil},
		"a redirect":        {answers(t, 302, ""), "302 Found", nil},
		"no JSON":           {answers(t, 200, "<html>"), "is not the status of a vmcp serve: invalid character", nil},
		"other JSON":        {answers(t, 200, `{"state":"ready"}`), "it does not say since when it runs", nil},
		"too much":          {answers(t, 200, strings.Repeat(" ", longestStatus+1)), "more than 16 MiB", nil},
		"no answer": {newLoopback(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })),
			"no answer within 50ms; is vmcp serve running", []string{"--timeout", "50ms"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, append([]string{"status", "--url", tt.url}, tt.options...)...)
			assert.Equal(t, statusFailure, got.status)
			assert.Contains(t, got.err, tt.remedy)
			assert.Empty(t, got.out)
		})
	}
}

func TestStatusUsage(t *testing.T) {
	const secret = "hush-hush"
	tests := map[string]struct {
		args []string
		says string
	}{
		"no URL":            {[]string{"--url", "localhost:4483"}, "write it like http://127.0.0.1:4483"},
		"credentials in it": {[]string{"--url", "http://me:" + secret + "@127.0.0.1:4483"}, "a token into a file"},
		"a query in it":     {[]string{"--url", "http://127.0.0.1:4483/?token=" + secret}, "a token into a file"},
		"no token file":     {[]string{"--auth-token-file", "/no/such/file"}, "name the file that vmcp serve was given"},
		"an empty name":     {[]string{"--auth-token-file", ""}, "name the file that vmcp serve was given"},
		"no time":           {[]string{"--timeout", "0s"}, "write one such as 10s"},
		"an argument":       {[]string{"now"}, "unknown command"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := vmcpWith(t, append([]string{"status"}, tt.args...)...)
			assert.Equal(t, statusUsage, got.status)
			assert.Contains(t, got.err, tt.says)
			assert.NotContains(t, got.err, secret)
		})
	}
}

func TestStatusSendsTheTokenOfItsFile(t *testing.T) {
	sent := make(chan string, 1)
	endpoint := newLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.URL.Path + " " + r.Header.Get("Authorization")
		w.WriteHeader(http.StatusForbidden)
	}))
	got := vmcpWith(t, "status", "--url", endpoint, "--auth-token-file", write(t, "token", "hush-hush\n"))
	require.Len(t, sent, 1)
	assert.Equal(t, "/status Bearer hush-hush", <-sent)
	assert.NotContains(t, got.err, "hush-hush")
}

func TestStatusPrintsNothingThatMovesTheCursor(t *testing.T) {
	const evil = "\x1b[2J\u202e\n\u0085"
	endpoint := reporting(t, vmcp.BackendReport{ID: "a" + evil, State: vmcp.State("ready" + evil), Since: dawn, Reason: evil + "x", Remedy: evil + "y"})
	for _, options := range [][]string{nil, {"--json"}} {
		got := vmcpWith(t, append([]string{"status", "--url", endpoint}, options...)...)
		assert.Equal(t, statusDegraded, got.status, got.err)
		assert.NotContains(t, got.out, "\x1b")
		assert.NotContains(t, got.out, "\u202e")
		assert.NotContains(t, got.out, "\u0085")
		assert.Contains(t, got.out, "[2J[U+202E]", "what it was is seen")
	}
}
