package instrument

import (
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
)

// DefaultSeriesLimit is how many series are told apart unless a
// [SeriesLimit] says otherwise.
const DefaultSeriesLimit = 1_000

// longestName is how much of a tool's or prompt's name is believed: the
// protocol allows 128 characters.
const longestName = 128

// A SeriesLimit bounds how many series of a histogram names can make: callers
// make up tools, and servers error codes. The first so many combinations of
// method, tool, prompt, error and code are measured as they are; in every later
// one the tool, the prompt and a code that no specification names become
// "_OTHER", so that there are at most a few hundred more. It counts for each set
// of attributes of a [Config], such as a backend, by itself. It is safe for concurrent
// use.
type SeriesLimit struct {
	most int

	mu    sync.Mutex
	known map[attribute.Distinct]map[Series]struct{}
}

// NewSeriesLimit returns a limit; below 1 it is [DefaultSeriesLimit]. One that
// several middlewares, or servers, share holds for all of them together, as it must where
// they are made anew for each session.
func NewSeriesLimit(most int) *SeriesLimit {
	if most < 1 {
		most = DefaultSeriesLimit
	}
	return &SeriesLimit{most: most, known: map[attribute.Distinct]map[Series]struct{}{}}
}

// admit returns the series to measure: s itself, or one that many share.
func (l *SeriesLimit) admit(attributes []attribute.KeyValue, s Series) Series {
	s.Request = s.believable()
	set := attribute.NewSet(slices.Clone(attributes)...)                         // it sorts what it is given
	counted := Series{s.Request, Connection{ProtocolVersion: s.ProtocolVersion}} // a connection has one or two peers
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[set.Equivalent()]
	if known == nil {
		known = map[Series]struct{}{}
		l.known[set.Equivalent()] = known
	}
	if _, ok := known[counted]; !ok && len(known) >= l.most {
		s.Request = s.shared()
		return s
	}
	known[counted] = struct{}{}
	return s
}

// believable has no method that the protocol does not know and no name longer
// than it allows.
func (r Request) believable() Request {
	if r.Method != "" {
		r.Method = methodName(mcp.MCPMethod(r.Method))
	}
	if len(r.Tool) > longestName {
		r.Tool = other
	}
	if len(r.Prompt) > longestName {
		r.Prompt = other
	}
	return r
}

// shared is the request of all that are too many.
func (r Request) shared() Request {
	if r.Tool != "" {
		r.Tool = other
	}
	if r.Prompt != "" {
		r.Prompt = other
	}
	if r.Code != "" && !isKnownCode(r.Code) {
		r.Code, r.ErrorType = other, other
	}
	return r
}
