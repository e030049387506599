package gateway

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/vmcp"
)

// Path is where the endpoint is over HTTP.
const Path = "/mcp"

// A Gateway serves one session to every caller. It is safe for concurrent use.
type Gateway struct {
	session *vmcp.Session
	server  *server.MCPServer
	http    *server.StreamableHTTPServer

	publishing sync.Mutex
	published  struct{ tools, prompts, resources bool } // ever
}

// New returns a gateway to the session, which stays the caller's to close.
// When what the session offers changes, so does what the gateway lists, and it
// tells its callers.
func New(session *vmcp.Session, info mcp.Implementation) *Gateway {
	s := server.NewMCPServer(info.Name, info.Version, capabilities(session)...)
	g := &Gateway{session: session, server: s, http: server.NewStreamableHTTPServer(s, server.WithEndpointPath(Path))}
	session.OnChange(g.publish)
	g.publish()
	return g
}

// publish lists what the session offers now, and mcp-go tells those who listen.
// It declares a kind that appears only later when that does.
func (g *Gateway) publish() {
	g.publishing.Lock()
	defer g.publishing.Unlock()
	tools, prompts := toolsOf(g.session), promptsOf(g.session)
	if g.published.tools = g.published.tools || len(tools) > 0; g.published.tools {
		g.server.SetTools(tools...)
	}
	if g.published.prompts = g.published.prompts || len(prompts) > 0; g.published.prompts {
		g.server.SetPrompts(prompts...)
	}
	resources, templates := resourcesOf(g.session)
	if g.published.resources = g.published.resources || len(resources)+len(templates) > 0; g.published.resources {
		g.server.SetResources(resources...)
		g.server.SetResourceTemplates(templates...)
	}
}

// longestBody is the most that one request may have, in bytes.
const longestBody = 16 << 20

// crossOrigin refuses what a page of another origin makes a browser send, as
// the protocol demands
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
var crossOrigin = http.NewCrossOriginProtection()

// ServeHTTP serves the endpoint at [Path] and answers 404 elsewhere.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := crossOrigin.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, longestBody)
	if r.URL.Path != Path {
		http.Error(w, "the MCP endpoint is at "+Path, http.StatusNotFound)
		return
	}
	g.http.ServeHTTP(w, r)
}

// ServeStdio serves one caller over in and out until in has ended and what was
// asked is answered, 5 s at most, or until ctx ends.
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	d := newDrain(ctx, in, out)
	return server.NewStdioServer(g.server).Listen(ctx, d, d)
}
