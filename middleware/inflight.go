package middleware

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// inFlight counts the requests of one client that are not answered yet. It is
// read when metrics are collected, from the first request until the client is
// closed: a count that every request wrote would cost more than its histogram.
type inFlight struct {
	meter metric.Meter
	about metric.MeasurementOption
	count atomic.Int64

	first  sync.Once
	mu     sync.Mutex
	closed bool
	read   metric.Registration
}

func newInFlight(meter metric.Meter, about metric.MeasurementOption) *inFlight {
	return &inFlight{meter: meter, about: about}
}

func (f *inFlight) begin() {
	f.first.Do(f.open)
	f.count.Add(1)
}

func (f *inFlight) end() { f.count.Add(-1) }

// open has the count read from now on.
func (f *inFlight) open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	counter := clientActiveRequests.observed(f.meter)
	f.read = made(f.meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		observer.ObserveInt64(counter, f.count.Load(), f.about)
		return nil
	}, counter))
}

// close ends that.
func (f *inFlight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.read == nil {
		return
	}
	if err := f.read.Unregister(); err != nil {
		otel.Handle(err)
	}
	f.read = nil
}
