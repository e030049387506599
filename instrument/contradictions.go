package instrument

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Contradictions count what servers promised and do not keep, and lists that
// are none. They are safe for concurrent use.
type Contradictions struct {
	config         Config
	contradictions metric.Int64Counter
	malformed      metric.Int64Counter
}

// NewContradictions makes them; of the configuration MeterProvider and Attributes
// count.
func NewContradictions(c Config) *Contradictions {
	meter := c.meter()
	return &Contradictions{c, contradictionCount.counter(meter), malformedListCount.counter(meter)}
}

// Missing counts in candor.contradictions that a server does not have a method
// of a capability that it advertised.
func (c *Contradictions) Missing(ctx context.Context, capability string, method mcp.MCPMethod) {
	c.contradictions.Add(ctx, 1, c.about(capability, method))
}

// Malformed counts in candor.malformed_lists that a list was none.
func (c *Contradictions) Malformed(ctx context.Context, capability string, method mcp.MCPMethod) {
	c.malformed.Add(ctx, 1, c.about(capability, method))
}

func (c *Contradictions) about(capability string, method mcp.MCPMethod) metric.MeasurementOption {
	return c.config.with(attribute.String(attrCapability, capability), attribute.String(attrMethod, methodName(method)))
}
