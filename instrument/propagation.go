package instrument

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"go.opentelemetry.io/otel/propagation"
)

// Inject returns the call with the trace's context in a copy of its request.
// A request of mcp-go that has no _meta leaves it to the exchange.
func (t *Tracer) Inject(ctx context.Context, exchange *wire.Exchange, call mcpclient.Call) mcpclient.Call {
	fields := propagation.MapCarrier{}
	t.config.Propagator.Inject(ctx, fields)
	if len(fields) == 0 {
		return call
	}
	copied := withMeta(call.Request, fields)
	if copied == nil {
		exchange.Carry(fields)
		return call
	}
	call.Request = copied
	return call
}

// extracted returns a context whose remote parent is what came in _meta.
func (t *Tracer) extracted(ctx context.Context, meta *mcp.Meta) context.Context {
	if meta == nil {
		return ctx
	}
	fields := propagation.MapCarrier{}
	for key, value := range meta.AdditionalFields {
		if text, ok := value.(string); ok {
			fields[key] = text
		}
	}
	return t.config.Propagator.Extract(ctx, fields)
}
