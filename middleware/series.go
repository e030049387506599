package middleware

import (
	"strconv"
	"sync"

	"github.com/mcp-candor/candor/mcpclient"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// series is what tells one line of a histogram from another; what is empty is
// left out.
type series struct {
	method, tool, prompt, version, errorType, code string
}

func seriesOf(outcome Outcome) series {
	s := series{method: string(outcome.Call.Method), version: protocolVersion(outcome.Call)}
	s.tool, s.prompt = subject(outcome.Call)
	if outcome.Kind != OutcomeOK {
		s.errorType = outcome.errorType()
	}
	if code, ok := outcome.Code(); ok {
		s.code = strconv.Itoa(code)
	}
	return s
}

func protocolVersion(call mcpclient.Call) string {
	if server, ok := call.Server(); ok {
		return server.ProtocolVersion
	}
	return ""
}

// option returns the attributes of a series and more.
func (s series) option(more []attribute.KeyValue) metric.MeasurementOption {
	attributes := make([]attribute.KeyValue, 0, len(more)+6)
	attributes = append(attributes, more...)
	for _, each := range [...]struct{ key, value string }{
		{attrMethod, s.method},
		{attrTool, s.tool},
		{attrPrompt, s.prompt},
		{attrProtocolVersion, s.version},
		{attrErrorType, s.errorType},
		{attrStatusCode, s.code},
	} {
		if each.value != "" {
			attributes = append(attributes, attribute.String(each.key, each.value))
		}
	}
	return metric.WithAttributeSet(attribute.NewSet(attributes...))
}

// mostKnownSeries bounds what is kept for a client whose callers make up names
// of tools. OpenTelemetry's own limit on series is 2,000.
const mostKnownSeries = 1_000

// knownSeries keeps the options of the series that were measured before:
// making a set of attributes costs more than all the rest of a measurement.
type knownSeries struct {
	mu      sync.RWMutex
	byValue map[series][]metric.RecordOption
}

// options returns the attributes of a series and more, which must be the same
// each time.
func (k *knownSeries) options(s series, more []attribute.KeyValue) []metric.RecordOption {
	k.mu.RLock()
	known, ok := k.byValue[s]
	k.mu.RUnlock()
	if ok {
		return known
	}
	made := []metric.RecordOption{s.option(more)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byValue == nil {
		k.byValue = map[series][]metric.RecordOption{}
	}
	if len(k.byValue) < mostKnownSeries {
		k.byValue[s] = made
	}
	return made
}
