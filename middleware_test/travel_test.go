package middleware_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheContextTravelsOverEveryTransportInBothEras compares the span of each
// request with what the server got in params._meta.
func TestTheContextTravelsOverEveryTransportInBothEras(t *testing.T) {
	t.Parallel()
	for _, over := range links {
		t.Run(over.String(), func(t *testing.T) {
			t.Parallel()
			script := goldenOutcomes[0].script(over.era)
			script.Session = false
			server := badserver.New(script)
			target, stop := over.serve(server)
			defer stop()
			s := newSignals(t)
			ctx := s.caller(t.Context())
			c, err := connect.To(target, connect.WithProtocolVersion(over.era)).OpenVerifying(ctx, unverified, s.chain())
			require.NoError(t, err)
			for _, call := range goldenCalls {
				require.NoError(t, call.call(ctx, c), call.method)
			}
			require.NoError(t, c.Close())

			for _, span := range s.spans.Ended() {
				method := value(span.Attributes(), "mcp.method.name")
				want := "00-" + span.SpanContext().TraceID().String() + "-" + span.SpanContext().SpanID().String() + "-01"
				if got, carries := traceparents(t, server)[method]; carries || over.transport == "HTTP" {
					assert.Equal(t, want, got, method)
				} else {
					assert.Contains(t, withoutMeta, method, "over a transport that carries nothing only these have no context")
				}
			}
		})
	}
}

// withoutMeta are the methods whose requests have no room for a _meta in mcp-go;
// the transports of package connect make it, those of the tests do not.
var withoutMeta = []string{"initialize", "server/discover", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "completion/complete"}

// traceparents are what the server got, by method.
func traceparents(t *testing.T, s *badserver.Server) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, request := range s.Requests() {
		var params struct {
			Meta struct {
				Traceparent string `json:"traceparent"`
			} `json:"_meta"`
		}
		if len(request.Params) > 0 {
			require.NoError(t, json.Unmarshal(request.Params, &params))
		}
		if params.Meta.Traceparent != "" {
			got[request.Method] = params.Meta.Traceparent
		}
	}
	return got
}
