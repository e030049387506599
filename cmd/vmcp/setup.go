package main

import (
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
	config         string
	logLevel       slog.Level
	contradictions string
	timeout        time.Duration
}

func (s *setup) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.config, "config", "", "configuration `FILE` with the mcpServers that MCP clients use (default: two servers inside the program)")
	flags.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "lowest `LEVEL` to log: debug, info, warn or error")
	flags.StringVar(&s.contradictions, "contradictions", "", "append each contradiction of a server to `FILE` as a line of JSON as well")
	flags.DurationVar(&s.timeout, "timeout", 30*time.Second, "longest time for one server's handshake and lists, or for each question of check")
}

// open returns a builder and the backends: the servers, or if there are none
// those that the flags describe. What is wrong is a matter of usage. The caller
// closes what is returned last, when the log is no longer needed.
func (s *setup) open(command *cobra.Command, servers ...config.Server) (*vmcp.Builder, []vmcp.Backend, io.Closer, error) {
	if err := s.check(command); err != nil {
		return nil, nil, nil, usage{err}
	}
	logger, closer, err := newLogger(command.ErrOrStderr(), s.logLevel, s.contradictions)
	if err != nil {
		return nil, nil, nil, usage{err}
	}
	slog.SetDefault(logger) // what mcp-go has to say goes the same way
	backends, err := s.backends(servers, logger)
	if err != nil {
		return nil, nil, nil, closing(usage{err}, closer)
	}
	return &vmcp.Builder{Logger: logger, Timeout: s.timeout}, backends, closer, nil
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

func (s *setup) backends(servers []config.Server, logger *slog.Logger) ([]vmcp.Backend, error) {
	if len(servers) == 0 && s.config == "" {
		return embedded(), nil
	}
	if len(servers) == 0 {
		c, err := config.Read(s.config, os.LookupEnv)
		if err != nil {
			return nil, err
		}
		for _, note := range c.Notes {
			logger.Info(note)
		}
		servers = c.Servers
	}
	backends := make([]vmcp.Backend, len(servers))
	for i, server := range servers {
		backends[i] = newBackend(server, s.timeout, logger)
	}
	return backends, nil
}
