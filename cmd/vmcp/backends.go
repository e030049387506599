package main

import (
	"log/slog"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

func fromConfig(c config.Config, logger *slog.Logger) []vmcp.Backend {
	backends := make([]vmcp.Backend, len(c.Servers))
	for i, server := range c.Servers {
		backends[i] = newBackend(server.Name, targetOf(server), logger)
	}
	return backends
}

func newBackend(id string, target connect.Target, logger *slog.Logger) vmcp.Backend {
	return vmcp.Backend{ID: id, Connector: connect.To(target,
		connect.WithLogger(logger.With("backendID", id)), connect.WithClientInfo(identity()))}
}

func targetOf(s config.Server) connect.Target {
	switch s.Type {
	case config.TypeHTTP:
		return connect.HTTP{URL: s.URL, Headers: s.Headers}
	case config.TypeSSE:
		return connect.SSE{URL: s.URL, Headers: s.Headers}
	default:
		return connect.Stdio{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir}
	}
}
