package middleware

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// unwired says once for each client if package wire is missing under an HTTP
// transport of mcp-go: nothing was told of a request that was surely sent. Other
// transports can do without, or are not known.
type unwired struct {
	logger *slog.Logger
	next   mcpclient.Handler
	known  atomic.Bool
}

func (u *unwired) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	if u.known.Load() {
		return u.next(ctx, call)
	}
	if _, isList := call.List(); !isList && call.Op != "Initialize" { // others may send nothing
		return u.next(ctx, call)
	}
	remedy := wireRemedy(call.Inner())
	if remedy == "" {
		u.known.Store(true)
		return u.next(ctx, call)
	}
	ctx, exchange := wire.WithExchange(ctx)
	result, err := u.next(ctx, call)
	told := exchange.Facts() != wire.Facts{}
	if (told || wasSent(call, err)) && !u.known.Swap(true) && !told {
		u.logger.LogAttrs(ctx, slog.LevelWarn, "package wire is missing under the client's transport: what servers answer over HTTP is misread",
			slog.String(events.KeyEvent, events.WireMissing), slog.String(events.KeyRemedy, remedy))
	}
	return result, err
}

// wireRemedy says how to put wire under the transport of a client; nothing where it
// is not known to be one of mcp-go's over HTTP.
func wireRemedy(inner client.MCPClient) string {
	c, ok := mcpclient.As[*client.Client](inner)
	if !ok {
		return ""
	}
	var option string
	switch c.GetTransport().(type) {
	case *transport.StreamableHTTP:
		option = "transport.WithHTTPBasicClient"
	case *transport.SSE:
		option = "transport.WithHTTPClient"
	default:
		return ""
	}
	return "make the transport with " + option + "(&http.Client{Transport: &wire.Transport{}}), or the client with connect.Open"
}

// wasSent says whether a request was surely sent: it was answered, or met a 404 on a
// protocol that has no sessions that could have been lost before.
func wasSent(call mcpclient.Call, err error) bool {
	server, known := call.Server()
	return err == nil || failure.Of(err).Kind == failure.SessionLost && known && mcp.IsModernProtocol(server.ProtocolVersion)
}
