package middleware_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mcp-go's client flattens a code that it has no type for to the server's words,
// and server libraries word a missing method so. Only -32601 is forgiven.
func TestTheWordsOfAMissingMethodAreNotForgiven(t *testing.T) {
	t.Parallel()
	for _, l := range lists {
		for _, w := range links {
			t.Run(l.method+" "+w.String(), func(t *testing.T) {
				t.Parallel()
				words := "method not found: " + l.method
				server := badserver.New(badserver.Script{Protocol: w.era, Capabilities: []byte(`{"` + l.capability + `":{}}`),
					Answers: map[string][]badserver.Answer{l.method: {badserver.Fail(-32000, words)}}})
				target, stop := w.serve(server)
				t.Cleanup(stop)
				var log mcptest.Journal
				c, err := connect.To(target).OpenVerifying(t.Context(), unverified, middleware.Default(log.Logger(), nil))
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, c.Close()) })
				for way, ask := range l.both() {
					got, err := ask(t.Context(), c)
					assert.Nil(t, got, way)
					require.EqualError(t, err, words, way)
					assert.NotErrorIs(t, err, mcp.ErrMethodNotFound, way)
				}
				assert.Empty(t, log.Levels(events.Contradiction))
			})
		}
	}
}
