package main

import (
	"log/slog"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

func newBackend(server config.Server, timeout time.Duration, logger *slog.Logger) vmcp.Backend {
	return vmcp.Backend{ID: server.Name, Connector: connect.To(targetOf(server),
		connect.WithLogger(logger.With("backendID", server.Name)),
		connect.WithClientInfo(identity()),
		connect.WithTimeouts(timeouts(timeout)))}
}

// timeouts share out the time for one server: most of it is for a start that is
// slow, as that of a program that is downloaded first, and some is left for a
// second try on an older protocol.
func timeouts(all time.Duration) connect.Timeouts {
	const probe, second = 5 * time.Second, 10 * time.Second
	return connect.Timeouts{
		Probe:     min(probe, all),
		Handshake: max(all-probe-second, min(second, all)),
		Proof:     all,
	}
}

func targetOf(s config.Server) connect.Target {
	switch s.Type {
	case config.TypeHTTP:
		return connect.HTTP{URL: s.URL, Headers: s.Headers}
	case config.TypeSSE:
		return connect.SSE{URL: s.URL, Headers: s.Headers}
	default:
		return connect.Stdio{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, Secrets: s.Secrets}
	}
}
