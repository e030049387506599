//go:build !real

package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	beMain()
	goleak.VerifyTestMain(m)
}
