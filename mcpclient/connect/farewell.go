package connect

import (
	"context"
	"net/http"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// farewell adds the headers to the DELETE that ends a session, which mcp-go
// v1.2.1 sends without them, and does not wait for its answer for ever.
type farewell struct {
	*wire.Transport
	headers map[string]string
	life    context.Context
}

func (f farewell) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodDelete {
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel() // mcp-go does not read the answer's body
		defer context.AfterFunc(f.life, cancel)()
		req = req.Clone(ctx)
		for name, value := range f.headers {
			req.Header.Set(name, value)
		}
	}
	return f.Transport.RoundTrip(req)
}
