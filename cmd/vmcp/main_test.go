//go:build !real

package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// mainVariable makes the test binary the command itself.
const mainVariable = "VMCP_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		main() // which exits
	}
	goleak.VerifyTestMain(m)
}
