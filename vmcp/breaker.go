package vmcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/sony/gobreaker/v2"
)

// Breaker says when a backend that fails to answer counts as failed.
type Breaker struct {
	// Failures is how many requests in a row may fail in their transport or
	// not be answered in time, 5 by default; this many make the backend
	// failed. Any answer begins the count anew, a JSON-RPC error and a tool's
	// result with isError too. What a caller cancels is not counted.
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
func newBreaker(settings Breaker, counts func(error) bool) *gobreaker.CircuitBreaker[any] {
	return gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		ReadyToTrip:  func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= settings.failures() },
		IsSuccessful: func(err error) bool { return !counts(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
	})
}

// counts says whether a request failed for want of an answer. An answer that
// is refused, being too long or no list, is one.
func (c *connection) counts(err error) bool {
	if status, ok := errors.AsType[*wire.StatusError](err); ok {
		return c.isOutage(status.StatusCode)
	}
	if _, tooLong := errors.AsType[*wire.BodyTooLargeError](err); tooLong || errors.Is(err, middleware.ErrMalformedList) {
		return false
	}
	_, broken := errors.AsType[*transport.Error](err)
	return broken || errors.Is(err, context.DeadlineExceeded)
}

// isOutage tells a status that is about the server, or the way to it, from one
// that is about the request. Some servers answer 400 to a session that they do
// not know.
func (c *connection) isOutage(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest:
		return c.session
	default:
		return status >= http.StatusInternalServerError
	}
}
