package vmcp

import (
	"fmt"

	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/sony/gobreaker/v2"
)

// Breaker says when a backend that fails to answer counts as failed.
type Breaker struct {
	// Failures is how many requests in a row may fail in their transport or
	// not be answered in time, 5 by default; this many make the backend
	// failed. Any answer begins the count anew, a JSON-RPC error and a tool's
	// result with isError too. What a caller cancels is not counted, nor is what
	// may be about the request alone, such as HTTP 400.
	Failures int
}

func (b Breaker) failures() int {
	if b.Failures <= 0 {
		return DefaultBreakerFailures
	}
	return b.Failures
}

// newBreaker counts the requests over one connection. Once it is open the
// connection is given up, and the next one has a breaker of its own.
func newBreaker(settings Breaker, counts func(error) bool) *gobreaker.TwoStepCircuitBreaker[any] {
	return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		ReadyToTrip:  func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= settings.failures() },
		IsSuccessful: func(err error) bool { return !counts(err) },
		IsExcluded: func(err error) bool {
			read := failure.Of(err)
			return read.Kind == failure.Cancelled || read.Consequence() == failure.Doubt
		},
	})
}

// trippedError is that of a request that was not sent, since too many before it
// were not answered.
type trippedError struct{ failures int }

func (e trippedError) Error() string {
	return fmt.Sprintf("%d requests in a row were not answered", e.failures)
}

// NotSent says so: package failure asks.
func (trippedError) NotSent() bool { return true }
