package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recorded(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// headersOf are those of the last request of a method.
func headersOf(backend *badserver.Server, method string) (last http.Header) {
	for _, request := range backend.Requests() {
		if request.Method == method {
			last = request.Header
		}
	}
	return last
}

func TestOnlyHeadersThatAreNamedTravelToABackend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		named  []string
		tenant string
	}{
		"none by default": {nil, ""},
		"named":           {[]string{"x-tenant"}, "blue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, backend := beforeWeb(t, watched("one"), func(b *vmcp.Backend) { b.ForwardHeaders = c.named })
			url := listen(t, g)
			for _, me := range []who{plain, newest, asker} {
				w := reach(t, url, me, "X-Tenant", "blue", "Authorization", "Bearer of-the-caller", "Cookie", "of=the-caller")
				for method, params := range asks {
					require.Nil(t, w.ask(method, params).Error, method)
					header := headersOf(backend, method)
					require.NotNil(t, header)
					assert.Equal(t, c.tenant, header.Get("X-Tenant"), method)
					assert.Empty(t, header.Get("Authorization"))
					assert.Empty(t, header.Get("Cookie"))
				}
			}
			for _, request := range backend.Requests() {
				assert.NotContains(t, request.Header.Get("Authorization")+request.Header.Get("Cookie"), "the-caller", request.Method)
			}
		})
	}
}
