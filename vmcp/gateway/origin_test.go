package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func post(t *testing.T, url, origin string, body io.Reader) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	resp, err := httpClient(t).Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func TestAPageOfAnotherOriginIsRefused(t *testing.T) {
	t.Parallel()
	g, _ := before(t, map[string]badserver.Script{"one": serving("one")})
	url := listen(t, g)
	hello := strings.SplitAfter(asked, "\n")[0]
	for origin, want := range map[string]int{"": http.StatusOK, strings.TrimSuffix(url, "/mcp"): http.StatusOK, "http://evil.example": http.StatusForbidden, "null": http.StatusForbidden} {
		assert.Equal(t, want, post(t, url, origin, strings.NewReader(hello)), origin)
	}
}

func TestABodyThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	g, _ := before(t, map[string]badserver.Script{"one": serving("one")})
	status := post(t, listen(t, g), "", strings.NewReader(strings.Repeat(" ", 17<<20)+"{}"))
	assert.GreaterOrEqual(t, status, http.StatusBadRequest)
	assert.Less(t, status, 600)
}
