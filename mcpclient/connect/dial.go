package connect

import (
	"context"
	"math"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// dialled is a target of this package, whose transport heeds the options of the
// connector.
type dialled interface {
	dial(ctx context.Context, o options) (transport.Interface, error)
}

// dial makes the transport.
func (c *Connector) dial(ctx context.Context) (transport.Interface, error) {
	if ours, ok := c.target.(dialled); ok {
		return ours.dial(ctx, c.options)
	}
	return c.target.Dial(ctx)
}

// clientOptions are those of mcp-go's client on the transport, for a protocol
// version; empty means that mcp-go negotiates.
func (c *Connector) clientOptions(t transport.Interface, version string) []client.ClientOption {
	all := append([]client.ClientOption{}, c.options.client...)
	if _, mute := t.(*sseTransport); mute { // nobody would answer what the server asks
		all = append(all, client.WithSamplingHandler(nil), client.WithElicitationHandler(nil), client.WithRootsHandler(nil))
	}
	probe := c.options.timeouts.Probe
	_, itself := t.(*stdioTransport)             // it knows when the clock begins
	if itself || mcp.IsModernProtocol(version) { // nothing follows that needs time
		probe = math.MaxInt64
	}
	return append(all, client.WithDiscoverTimeout(probe), client.WithProtocolVersion(version))
}
