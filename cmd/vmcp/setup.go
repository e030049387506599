package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/spf13/cobra"
)

// setup is what the commands have in common: where the backends come from and
// where the log goes.
type setup struct {
	config   string
	logs     logOptions
	timeout  time.Duration
	observed *observability // once it is open

	// What open finds out.
	gateway  config.Gateway
	reloader *reloader // nil without a file
}

func (s *setup) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.config, "config", "", "configuration `FILE` with the mcpServers that MCP clients use (default: two servers inside the program)")
	s.logs.flags(flags)
	flags.DurationVar(&s.timeout, "timeout", vmcp.DefaultTimeout, "longest `TIME` for one server's handshake and lists, or for each question of check")
}

// open returns a builder and the backends: the servers, or if there are none
// those that the flags describe. What is wrong is a matter of usage. The caller
// closes what is returned last, when the log is no longer needed.
func (s *setup) open(command *cobra.Command, servers ...config.Server) (*vmcp.Builder, []vmcp.Backend, io.Closer, error) {
	if err := s.check(command); err != nil {
		return nil, nil, nil, usage{err}
	}
	observed, err := observe(command, s.logs)
	if err != nil {
		return nil, nil, nil, usage{err}
	}
	s.observed = observed
	backends, err := s.backends(command.Context(), servers, observed.logger)
	if err != nil {
		return nil, nil, nil, closing(usage{err}, observed)
	}
	return &vmcp.Builder{
		Logger: observed.logger, Timeout: s.timeout, Names: s.gateway.Names,
		MeterProvider: observed.telemetry.MeterProvider(), TracerProvider: observed.telemetry.TracerProvider(),
		Propagator: observed.telemetry.Propagator(),
	}, backends, observed, nil
}

// check refuses what an unset variable in a script may have left of a flag.
func (s *setup) check(command *cobra.Command) error {
	switch {
	case s.timeout <= 0:
		return fmt.Errorf("--timeout %s is no time to wait; write one such as 30s", s.timeout)
	case s.config == "" && command.Flags().Changed("config"):
		return errors.New("--config is empty; name a file, or leave it out for the servers inside the program")
	default:
		return nil
	}
}

func (s *setup) backends(ctx context.Context, servers []config.Server, logger *slog.Logger) ([]vmcp.Backend, error) {
	s.gateway = config.DefaultGateway()
	build := func(server config.Server) vmcp.Backend {
		s.observed.secrets.Add(secretsOf(server.Target)...)
		return newBackend(server, forAll{timeout: s.timeout, answer: s.gateway.Answer, logger: logger})
	}
	switch {
	case len(servers) > 0:
		backends := make([]vmcp.Backend, len(servers))
		for i, server := range servers {
			backends[i] = build(server)
		}
		return backends, nil
	case s.config == "":
		return embedded(), nil
	}
	c, err := config.Read(s.config, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	logNotes(ctx, logger, c)
	s.gateway = c.Gateway
	var backends []vmcp.Backend
	s.reloader, backends = newReloader(s.config, c, build, logger)
	return backends, nil
}
