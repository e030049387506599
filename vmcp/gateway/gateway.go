package gateway

import (
	"context"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/vmcp"
)

// Path is where the endpoint is over HTTP.
const Path = "/mcp"

// A Gateway serves one session to every caller. It is safe for concurrent use.
type Gateway struct {
	server *server.MCPServer
	http   *server.StreamableHTTPServer
}

// New returns a gateway to the session, which stays the caller's to close.
func New(session *vmcp.Session, info mcp.Implementation) *Gateway {
	s := server.NewMCPServer(info.Name, info.Version, capabilities(session)...)
	addTools(s, session)
	addPrompts(s, session)
	addResources(s, session)
	return &Gateway{server: s, http: server.NewStreamableHTTPServer(s, server.WithEndpointPath(Path))}
}

// ServeHTTP serves the endpoint at [Path] and answers 404 elsewhere.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != Path {
		http.Error(w, "the MCP endpoint is at "+Path, http.StatusNotFound)
		return
	}
	g.http.ServeHTTP(w, r)
}

// ServeStdio serves one caller over in and out until in ends or ctx does.
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return server.NewStdioServer(g.server).Listen(ctx, in, out)
}
