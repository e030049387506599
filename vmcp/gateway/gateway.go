package gateway

import (
	"context"
	"sync"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// A Gateway serves a session to each caller at one MCP endpoint. It is safe for
// concurrent use.
type Gateway struct {
	Options
	builder  *vmcp.Builder
	endpoint *endpoint.Endpoint
	incoming *instrument.Server
	ends     sync.Map        // of a connected client to what ends the measuring of its session
	states   string          // what the requestStates of this gateway begin with
	applying chan struct{}   // full while the backends are changed
	life     context.Context // of the sessions, and of what runs beside requests
	end      context.CancelFunc
	running  lifetime.Group // what runs beside requests; ends with life

	mu       sync.Mutex
	backends []vmcp.Backend
	callers  map[key]*caller
}
