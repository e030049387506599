package middleware

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// series is what tells one line of a histogram from another; what is empty is
// left out.
type series struct {
	kind
	connection
}

// kind are the attributes that each request has for itself.
type kind struct{ method, tool, prompt, errorType, code string }

// connection are those that all requests of a connection share.
type connection struct {
	version string
	peer    wire.Peer
}

func kindOfRequest(outcome Outcome) kind {
	k := kind{method: string(outcome.method())}
	k.tool, k.prompt = subject(outcome.Call)
	return k.failed(outcome)
}

// failed adds what went wrong, if something did.
func (k kind) failed(outcome Outcome) kind {
	if outcome.Kind == OutcomeOK {
		return k
	}
	k.errorType = outcome.errorType()
	if code, ok := outcome.Code(); ok {
		k.code = strconv.Itoa(code)
	}
	return k
}

// all returns the attributes of a series and more, which win.
func (s series) all(more []attribute.KeyValue) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(more)+12)
	all = text(all, attrMethod, s.method)
	all = text(all, attrTool, s.tool)
	if s.method == string(mcp.MethodToolsCall) {
		all = text(all, attrGenAIOperation, executeTool)
	}
	all = text(all, attrPrompt, s.prompt)
	all = text(all, attrProtocolVersion, s.version)
	all = text(all, attrErrorType, s.errorType)
	all = text(all, attrStatusCode, s.code)
	return append(append(all, peerAttributes(s.peer)...), more...) // of two with one key the last counts
}

func peerAttributes(peer wire.Peer) []attribute.KeyValue {
	var all []attribute.KeyValue
	all = text(all, attrTransport, peer.Transport)
	all = text(all, attrNetProtocol, peer.Protocol)
	all = text(all, attrNetVersion, peer.ProtocolVersion)
	all = text(all, attrServerAddress, peer.Address)
	if peer.Port != 0 {
		all = append(all, attribute.Int(attrServerPort, peer.Port))
	}
	return all
}

// seriesOptions keeps the options of the series that were measured before:
// making a set of attributes costs more than all the rest of a measurement.
type seriesOptions struct {
	attributes []attribute.KeyValue
	limit      *SeriesLimit

	latest atomic.Pointer[knownSeries] // measurements of one often come one after the other
	mu     sync.RWMutex
	last   connection
	kinds  map[kind]*knownSeries // of the last connection
	all    map[connection]map[kind]*knownSeries
}

type knownSeries struct {
	series
	options []metric.RecordOption
}

func newSeriesOptions(o *options) *seriesOptions {
	return &seriesOptions{
		attributes: o.attributes,
		limit:      o.seriesLimit,
		all:        map[connection]map[kind]*knownSeries{},
	}
}

// recordOptions returns the options of a series, within the limit.
func (o *seriesOptions) recordOptions(s series) []metric.RecordOption {
	if latest := o.latest.Load(); latest != nil && latest.series == s {
		return latest.options
	}
	o.mu.RLock()
	kinds := o.kinds
	if s.connection != o.last {
		kinds = o.all[s.connection]
	}
	known, ok := kinds[s.kind]
	o.mu.RUnlock()
	if ok {
		o.latest.Store(known)
		return known.options
	}
	limited := o.limit.admit(o.attributes, s)
	made := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(limited.all(o.attributes)...))}
	o.keep(s, made)
	return made
}

func (o *seriesOptions) keep(s series, made []metric.RecordOption) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kinds := o.all[s.connection]
	if kinds == nil {
		kinds = map[kind]*knownSeries{}
		o.all[s.connection] = kinds
	}
	if len(kinds) < o.limit.most { // hostile names must not fill the memory either
		kinds[s.kind] = &knownSeries{s, made}
	}
	o.last, o.kinds = s.connection, kinds
}
