// Package middleware_test tests the chain of package middleware from outside:
// a real mcp-go client over a transport that answers from a script.
package middleware_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary a server over stdio, or runs the tests.
func TestMain(m *testing.M) {
	if script := os.Getenv(scriptVariable); script != "" {
		os.Exit(serveProcess(script))
	}
	goleak.VerifyTestMain(m)
}
