package middleware

import (
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
)

// DefaultSeriesLimit is how many series are told apart unless
// [WithSeriesLimit] says otherwise.
const DefaultSeriesLimit = 1_000

// longestName is how much of a tool's or prompt's name is believed: the
// protocol allows 128 characters.
const longestName = 128

// A SeriesLimit bounds how many series of a histogram names can make: callers
// make up tools, and servers error codes. The first so many combinations of
// method, tool, prompt, error and code are measured as they are; in every later
// one the tool, the prompt and a code that no specification names become
// "_OTHER", so that there are at most a few hundred more. It counts for each set
// of [WithAttributes], such as a backend, by itself. It is safe for concurrent
// use.
type SeriesLimit struct {
	most int

	mu    sync.Mutex
	known map[attribute.Distinct]map[series]struct{}
}

// NewSeriesLimit returns a limit; below 1 it is [DefaultSeriesLimit]. One that
// several middlewares share holds for all of them together, as it must where
// they are made anew for each session.
func NewSeriesLimit(most int) *SeriesLimit {
	if most < 1 {
		most = DefaultSeriesLimit
	}
	return &SeriesLimit{most: most, known: map[attribute.Distinct]map[series]struct{}{}}
}

// WithSeriesLimit replaces the limit of [DefaultSeriesLimit] that each
// [Metrics] and each [Endpoint] has of its own.
func WithSeriesLimit(limit *SeriesLimit) Option {
	return func(o *options) {
		if limit != nil {
			o.seriesLimit = limit
		}
	}
}

// admit returns the series to measure: s itself, or one that many share.
func (l *SeriesLimit) admit(attributes []attribute.KeyValue, s series) series {
	s.kind = s.believable()
	set := attribute.NewSet(slices.Clone(attributes)...)                        // it sorts what it is given
	counted := series{kind: s.kind, connection: connection{version: s.version}} // a connection has one or two peers
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[set.Equivalent()]
	if known == nil {
		known = map[series]struct{}{}
		l.known[set.Equivalent()] = known
	}
	if _, ok := known[counted]; !ok && len(known) >= l.most {
		s.kind = s.shared()
		return s
	}
	known[counted] = struct{}{}
	return s
}

// believable has no method that the protocol does not know and no name longer
// than it allows.
func (k kind) believable() kind {
	if k.method != "" {
		k.method = methodName(mcp.MCPMethod(k.method))
	}
	if len(k.tool) > longestName {
		k.tool = other
	}
	if len(k.prompt) > longestName {
		k.prompt = other
	}
	return k
}

// shared is the kind of all that are too many.
func (k kind) shared() kind {
	if k.tool != "" {
		k.tool = other
	}
	if k.prompt != "" {
		k.prompt = other
	}
	if k.code != "" && !isKnownCode(k.code) {
		k.code, k.errorType = other, other
	}
	return k
}
