package middleware

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes one client span for each request, named "{method} {tool or
// prompt}" with the attributes and the status of the OpenTelemetry semantic
// conventions for MCP, and sends its context along in params._meta, as
// traceparent, tracestate and baggage, for the server to join. It writes into a
// copy of the request. Those of mcp-go's requests that have no _meta (ping,
// logging/setLevel, resources/subscribe, completion/complete, the handshake) get
// one where package connect opened the connection; see [wire.Exchange].
//
// It makes no span for what nobody sends, see [Metrics], and none where the
// wrapped client has a tracer of mcp-go's own (client.WithTracer): that makes
// one for each request already, and the context that is sent along is then the
// caller's. The tracer that package connect installs does not count: it records
// nothing.
//
// Put it outside of Metrics, so that their exemplars name the span. Without an
// SDK it spends nothing. A nil provider means OpenTelemetry's global one, also
// if that is set later.
func Tracing(provider trace.TracerProvider, opts ...Option) mcpclient.Middleware {
	config := apply(opts).Config
	config.TracerProvider = provider
	tracer := instrument.NewTracer(config)
	return func(next mcpclient.Handler) mcpclient.Handler {
		t := &tracing{tracer: tracer, next: next}
		return t.handle
	}
}

// tracing traces one client.
type tracing struct {
	tracer *instrument.Tracer
	next   mcpclient.Handler

	look    sync.Once
	foreign bool // mcp-go's client has a tracer of its own
}

func (t *tracing) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	if !t.tracer.Records() || sendsNothing(call) {
		return t.next(ctx, call)
	}
	t.look.Do(func() { t.foreign = hasTracer(call.Inner()) })
	ctx, exchange := wire.WithExchange(ctx)
	if t.foreign {
		return t.next(ctx, t.tracer.Inject(ctx, exchange, call))
	}
	ctx, span := t.tracer.Start(ctx, call, protocolVersion(call))
	defer span.End()
	start := time.Now()
	result, err := t.next(ctx, t.tracer.Inject(ctx, exchange, call))
	if span.IsRecording() {
		t.tracer.Describe(span, instrument.OutcomeOf(ctx, call, result, err, time.Since(start), exchange), protocolVersion(call))
	}
	return result, err
}

// hasTracer says whether mcp-go's client makes spans of its own. It cannot be
// asked; what the field of v1.2.1 holds tells.
func hasTracer(inner client.MCPClient) bool {
	mcpgo, ok := mcpclient.As[*client.Client](inner)
	if !ok || mcpgo == nil {
		return false
	}
	field := reflect.ValueOf(mcpgo).Elem().FieldByName("tracer")
	if !field.IsValid() || field.Kind() != reflect.Interface || field.IsNil() {
		return false
	}
	kind := field.Elem().Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch kind.PkgPath() {
	case "github.com/mark3labs/mcp-go/tracing", "github.com/mcp-candor/candor/mcpclient/connect":
		return false // neither records
	default:
		return true
	}
}
