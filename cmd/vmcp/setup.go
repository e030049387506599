package main

import (
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
	s.logLevel = slog.LevelInfo
	flags := command.Flags()
	flags.StringVar(&s.config, "config", "", "configuration `FILE` with the mcpServers that MCP clients use (default: two servers inside the program)")
	flags.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "lowest `LEVEL` to log: debug, info, warn or error")
	flags.StringVar(&s.contradictions, "contradictions", "", "append each contradiction of a server to `FILE` as a line of JSON as well")
	flags.DurationVar(&s.timeout, "timeout", 30*time.Second, "longest time for one server's handshake and lists")
}

// open returns a builder and the backends that the flags describe. The caller
// closes what is returned last, when the log is no longer needed.
func (s *setup) open(stderr io.Writer) (*vmcp.Builder, []vmcp.Backend, io.Closer, error) {
	logger, closer, err := newLogger(stderr, s.logLevel, s.contradictions)
	if err != nil {
		return nil, nil, nil, err
	}
	slog.SetDefault(logger) // what mcp-go has to say goes the same way
	backends, err := s.backends(logger)
	if err != nil {
		return nil, nil, nil, closing(err, closer)
	}
	return &vmcp.Builder{Logger: logger, Timeout: s.timeout}, backends, closer, nil
}

func (s *setup) backends(logger *slog.Logger) ([]vmcp.Backend, error) {
	if s.config == "" {
		return embedded(), nil
	}
	c, err := config.Read(s.config, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	for _, note := range c.Notes {
		logger.Info(note)
	}
	return fromConfig(c, logger), nil
}
