package status_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// board returns one that knows the report.
func board(report vmcp.Report) *status.Board {
	b := status.NewBoard("v0.2.0")
	b.Set(report)
	return b
}

// ask returns the answer to a request for a board with the report.
func ask(b *status.Board, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	status.Handler(b, status.Options{}).ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer
}

var paths = []string{"/", "/status", "/status/events", "/healthz", "/readyz", "/status/page.css", "/status/page.js", "/status/icon.svg"}

func TestStatusIsTheDocument(t *testing.T) {
	t.Parallel()
	b := board(fleet(time.Now()))
	answer := ask(b, http.MethodGet, "/status")
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	assert.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	var got status.Document
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &got))
	want, _ := b.Current()
	assert.Equal(t, want, got)
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	down := vmcp.BackendReport{ID: "drawio", State: vmcp.Failed, Required: true, Reason: "refused"}
	assert.Equal(t, "ok\n", ask(board(report(down)), http.MethodGet, "/healthz").Body.String(), "the process serves, whatever the backends do")

	ready := ask(board(report(vmcp.BackendReport{ID: "a", State: vmcp.Ready})), http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusOK, ready.Code)
	assert.JSONEq(t, `{"ready": true}`, ready.Body.String())

	not := ask(board(report(down)), http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, not.Code)
	assert.JSONEq(t, `{"ready": false, "reasons": ["no backend serves", "the required backend drawio failed: refused"]}`, not.Body.String())
}

func TestEveryPathAnswersReadingOnly(t *testing.T) {
	t.Parallel()
	b := board(fleet(time.Now()))
	require.NoError(t, b.Close()) // so that a stream ends
	server := httptest.NewServer(status.Handler(b, status.Options{}))
	t.Cleanup(server.Close)
	for _, path := range paths {
		for method, want := range map[string]int{"POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405, "HEAD": -1, "GET": -1} {
			request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
			require.NoError(t, err)
			answer, err := server.Client().Do(request)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			if want < 0 {
				want = map[bool]int{true: 503, false: 200}[path == "/readyz"] // drawio is required
			} else {
				assert.Equal(t, "GET, HEAD", answer.Header.Get("Allow"))
			}
			assert.Equal(t, want, answer.StatusCode, method+" "+path)
		}
	}
	assert.Equal(t, http.StatusNotFound, ask(b, http.MethodGet, "/other").Code)
}

func TestEveryAnswerKeepsABrowserFromRunningWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	b := board(fleet(time.Now()))
	require.NoError(t, b.Close())
	for _, path := range append(paths, "/other") {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			header := ask(b, method, path).Header()
			policy := header.Get("Content-Security-Policy")
			assert.True(t, strings.HasPrefix(policy, "default-src 'none';"), path)
			assert.NotContains(t, policy, "unsafe", path)
			assert.NotContains(t, policy, "http", path)
			assert.Contains(t, policy, "frame-ancestors 'none'", path)
			assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), path)
			assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"), path)
			assert.NotEmpty(t, header.Get("Cache-Control"), path)
		}
	}
}

func TestThePageNeedsNothingFromElsewhereAndNothingInline(t *testing.T) {
	t.Parallel()
	page := ask(board(fleet(time.Now())), http.MethodGet, "/").Body.String()
	for _, found := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.Regexp(t, `^(#|status|readyz|healthz)`, found[1], "relative, so that a proxy may serve it under a path")
	}
	assert.NotRegexp(t, `<script>|<style|style=| on[a-z]+=`, page)
	for _, name := range []string{"/status/page.css", "/status/page.js"} {
		assert.NotContains(t, ask(board(vmcp.Report{}), http.MethodGet, name).Body.String(), "://")
	}
}

func TestFilesOfThePageAreAskedForAgainOnlyIfTheyChanged(t *testing.T) {
	t.Parallel()
	b := board(vmcp.Report{})
	first := ask(b, http.MethodGet, "/status/page.css")
	assert.Equal(t, "text/css; charset=utf-8", first.Header().Get("Content-Type"))
	request := httptest.NewRequest(http.MethodGet, "/status/page.css", nil)
	request.Header.Set("If-None-Match", first.Header().Get("ETag"))
	again := httptest.NewRecorder()
	status.Handler(b, status.Options{}).ServeHTTP(again, request)
	assert.Equal(t, http.StatusNotModified, again.Code)
}

func TestThePageNamesTheEndpointAsWhoAsksReachesIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options status.Options
		secure  bool
		want    string
	}{
		"on the host that was asked": {status.Options{}, false, "http://gateway.test:4483/mcp"},
		"over TLS":                   {status.Options{}, true, "https://gateway.test:4483/mcp"},
		"at another path":            {status.Options{Endpoint: "/all"}, false, "http://gateway.test:4483/all"},
		"as its operator says":       {status.Options{Endpoint: "https://mcp.example.com/x"}, false, "https://mcp.example.com/x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequest(http.MethodGet, "http://gateway.test:4483/", nil)
			if tt.secure {
				request.TLS = &tls.ConnectionState{}
			}
			answer := httptest.NewRecorder()
			status.Handler(board(fleet(time.Now())), tt.options).ServeHTTP(answer, request)
			assert.Contains(t, answer.Body.String(), `<code id="endpoint">`+tt.want+`</code>`)
			assert.Contains(t, answer.Body.String(), `&#34;url&#34;: &#34;`+tt.want+`&#34;`)
		})
	}
}
