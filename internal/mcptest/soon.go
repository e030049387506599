package mcptest

import (
	"context"
	"testing"
	"time"
)

// Soon is a deadline, 30 s, for what does not take long; a test that meets it fails. It is not a part of
// the test's own context, so that it holds in the test's cleanup as well.
func Soon(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	tb.Cleanup(cancel)
	return ctx
}
