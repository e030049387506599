package connect_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mcp-go gives a process 5 s to end, and as long to the answer to a DELETE.
func TestAFailedOpeningDoesNotWaitForAServerThatDoesNotLetGo(t *testing.T) {
	t.Parallel()
	hang := badserver.Answer{Hang: true}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		programs := newLeash(t)
		partsSoon(t, programs.stdio(t, "stubborn", with(honest(modern), "tools/list", hang)))
		programs.await(t, "stubborn", ended(1))
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		script := with(with(honest(legacy), "notifications/initialized", hang), "DELETE", hang)
		script.Session = true
		s := badserver.New(script)
		partsSoon(t, connect.HTTP{URL: overHTTP(t, s).URL})
		assert.Equal(t, 1, s.Count("DELETE"), "it was told all the same")
	})
}

// partsSoon opens what never opens.
func partsSoon(t *testing.T, target connect.Target) {
	t.Helper()
	const timeout = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	began := time.Now()
	_, err := connect.Open(ctx, target)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 2*timeout)
}
