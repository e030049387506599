package instrument

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// ActiveRequests count the requests of one client that are not answered yet, in
// candor.client.active_requests. The count is read when metrics are collected,
// from the first request until the client is closed: one that every request wrote
// would cost more than its histogram. They are safe for concurrent use.
type ActiveRequests struct {
	meter metric.Meter
	about metric.MeasurementOption
	count atomic.Int64

	first  sync.Once
	mu     sync.Mutex
	closed bool
	read   metric.Registration
}

// NewActiveRequests counts from the first Begin; the caller closes it.
func NewActiveRequests(c Config) *ActiveRequests {
	return &ActiveRequests{meter: c.meter(), about: c.with()}
}

// Begin counts one more request.
func (a *ActiveRequests) Begin() {
	a.first.Do(a.open)
	a.count.Add(1)
}

// End counts one less.
func (a *ActiveRequests) End() { a.count.Add(-1) }

// open has the count read from now on.
func (a *ActiveRequests) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	counter := clientActiveRequests.observed(a.meter)
	a.read = made(a.meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		observer.ObserveInt64(counter, a.count.Load(), a.about)
		return nil
	}, counter))
}

// Close ends that the count is read. It may be called again.
func (a *ActiveRequests) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.read == nil {
		return
	}
	if err := a.read.Unregister(); err != nil {
		otel.Handle(err)
	}
	a.read = nil
}
