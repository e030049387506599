package instrument

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// seriesOptions keeps the options of the series that were measured before:
// making a set of attributes costs more than all the rest of a measurement.
type seriesOptions struct {
	attributes []attribute.KeyValue
	limit      *SeriesLimit

	latest atomic.Pointer[knownSeries] // measurements of one often come one after the other
	mu     sync.RWMutex
	last   Connection
	known  map[Request]*knownSeries // of the last connection
	all    map[Connection]map[Request]*knownSeries
}

type knownSeries struct {
	Series
	options []metric.RecordOption
}

func newSeriesOptions(c Config) *seriesOptions {
	return &seriesOptions{attributes: c.Attributes, limit: c.SeriesLimit, all: map[Connection]map[Request]*knownSeries{}}
}

// recordOptions returns the options of a series, within the limit.
func (o *seriesOptions) recordOptions(s Series) []metric.RecordOption {
	if latest := o.latest.Load(); latest != nil && latest.Series == s {
		return latest.options
	}
	o.mu.RLock()
	ofConnection := o.known
	if s.Connection != o.last {
		ofConnection = o.all[s.Connection]
	}
	known, ok := ofConnection[s.Request]
	o.mu.RUnlock()
	if ok {
		o.latest.Store(known)
		return known.options
	}
	limited := o.limit.admit(o.attributes, s)
	made := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(limited.attributes(o.attributes)...))}
	o.keep(s, made)
	return made
}

func (o *seriesOptions) keep(s Series, made []metric.RecordOption) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.all[s.Connection]
	if known == nil {
		known = map[Request]*knownSeries{}
		o.all[s.Connection] = known
	}
	if len(known) < o.limit.most { // hostile names must not fill the memory either
		known[s.Request] = &knownSeries{s, made}
	}
	o.last, o.known = s.Connection, known
}
