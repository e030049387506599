// Package middleware_test tests the chain of package middleware from outside:
// a real mcp-go client over a transport that answers from a script.
package middleware_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
