package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/spf13/cobra"
)

// service is what vmcp serve is asked for.
type service struct {
	setup

	listen string
	tokens string
	stdio  bool
}

func newServe() *cobra.Command {
	var s service
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve many servers as one MCP endpoint",
		Long: `Serves all servers as one MCP endpoint, over streamable HTTP at /mcp or, with
--stdio, over standard input and output. A server that fails is left out and
tried again; clients are told what is missing and why.

Beside the endpoint there is a page for people at /, the same as JSON at
/status, and /healthz and /readyz; "vmcp status" prints it.

A changed configuration file, and SIGHUP, make it read the file again. It ends
on Ctrl-C, on SIGTERM and, with --stdio, when the input ends: calls in flight may
end first, unless Ctrl-C comes again.

It listens on loopback addresses only, unless callers have to authenticate
with a token of --auth-token-file.

Exit status: 0 at its end, 1 if it cannot serve, as when a required server fails
at the start, 2 on wrong usage or configuration.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command) },
	}
	s.flags(command)
	command.Flags().StringVar(&s.listen, "listen", "127.0.0.1:4483", "`ADDRESS` to listen on")
	command.Flags().StringVar(&s.tokens, "auth-token-file", "", "`FILE` of the tokens that callers authenticate with: one a line, with the caller's name and a space before it if there are several")
	command.Flags().BoolVar(&s.stdio, "stdio", false, "serve one client over standard input and output instead")
	return command
}

func (s *service) run(command *cobra.Command) (err error) {
	tokens, err := s.check(command)
	if err != nil {
		return usage{err}
	}
	again := awaitReloads(command.Context(), s.config)
	defer again.stop()
	builder, backends, log, err := s.open(command)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, log) }()
	if err := checkTLS(s.gateway.TLS); err != nil {
		return usage{fmt.Errorf("%s: %w", s.config, err)}
	}
	s.settings(builder)
	board := status.NewBoard(version())
	defer func() { err = closing(err, board) }()
	board.Keep(idsOf(backends))
	g := gateway.New(builder, backends, s.options(tokens, board, builder.Logger))
	again.start(s.reloader, func(ctx context.Context, backends []vmcp.Backend) error {
		board.Keep(idsOf(backends))
		return g.Apply(ctx, backends)
	})
	defer again.stop() // before the board and the log are closed
	if s.stdio {
		return s.overStdio(command, g, backends)
	}
	return s.overHTTP(command, g, board)
}

// check returns the tokens of those who may call, or nil where nobody needs one.
func (s *service) check(command *cobra.Command) (*gateway.Tokens, error) {
	if err := exclusive(command, "stdio", "listen", "auth-token-file"); err != nil {
		return nil, err
	}
	if !command.Flags().Changed("auth-token-file") {
		return nil, checkLoopback(s.listen)
	}
	return s.readTokens()
}

// readTokens takes an empty name for what an unset variable left of one: to
// serve without tokens then would be to serve everybody.
func (s *service) readTokens() (_ *gateway.Tokens, err error) {
	if s.tokens == "" {
		return nil, errors.New("--auth-token-file is empty; name a file with a token in it, or leave it out")
	}
	f, err := os.Open(s.tokens)
	if err != nil {
		return nil, fmt.Errorf("--auth-token-file: %w; name a file with a token in it", err)
	}
	defer func() { err = closing(err, f) }()
	tokens, err := gateway.ReadTokens(f)
	if err != nil {
		return nil, fmt.Errorf("--auth-token-file %s: %w", s.tokens, err)
	}
	return tokens, nil
}

// settings are those of the gateway that are the sessions' business.
func (s *service) settings(builder *vmcp.Builder) {
	builder.AllowEmpty = true
	builder.SoftDeadline = s.gateway.SoftDeadline
	builder.ProbeEvery = probeEvery
	builder.Names = s.gateway.Names
}

func (s *service) options(tokens *gateway.Tokens, board *status.Board, logger *slog.Logger) gateway.Options {
	o := s.gateway.Options
	o.Info, o.Logger, o.Tokens, o.Observer = identity(), logger, tokens, board
	o.MeterProvider, o.TracerProvider = s.observed.telemetry.MeterProvider(), s.observed.telemetry.TracerProvider()
	return o
}

func idsOf(backends []vmcp.Backend) []string {
	ids := make([]string, len(backends))
	for i, backend := range backends {
		ids[i] = backend.ID
	}
	return ids
}

// overStdio leaves standard output to the protocol. There is one caller, whose
// session is built when it connects: the log says how the servers come up. Only
// what is required is checked before, so that the program ends if it fails.
func (s *service) overStdio(command *cobra.Command, g *gateway.Gateway, backends []vmcp.Backend) (err error) {
	defer func() { err = errors.Join(err, s.shutdown(g)) }()
	if slices.ContainsFunc(backends, func(b vmcp.Backend) bool { return b.Required }) {
		if _, err := g.Check(command.Context()); err != nil {
			return noSession(command.ErrOrStderr(), false, err)
		}
	}
	return g.ServeStdio(command.Context(), command.InOrStdin(), command.OutOrStdout())
}

// overHTTP serves from the start, so that nobody waits for the check.
func (s *service) overHTTP(command *cobra.Command, g *gateway.Gateway, board *status.Board) error {
	server := s.server(g, board)
	return server.listenAndServe(command.Context(), s.listen, func(at string) error {
		report, err := g.Check(command.Context())
		if err != nil {
			return noSession(command.OutOrStdout(), false, err)
		}
		return s.announce(command.OutOrStdout(), report, server.scheme()+"://"+reachable(at))
	}, func() error {
		return errors.Join(board.Close(), s.shutdown(g))
	})
}

// shutdown lets calls in flight end, for a while, then ends them.
func (s *service) shutdown(g *gateway.Gateway) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.gateway.DrainTimeout)
	defer cancel()
	err := g.Shutdown(ctx)
	if failure.Of(err).Kind == failure.TimedOut {
		slog.Warn("calls were still being answered and have been ended", events.KeyEvent, events.CallsCutOff, events.KeyDrainTimeout, s.gateway.DrainTimeout.String())
		return nil
	}
	return err
}

// announce says what is served and how to reach it. It writes once: see printBackends.
func (s *service) announce(out io.Writer, report vmcp.Report, address string) error {
	header, option := "", ""
	if s.tokens != "" {
		header, option = `, "headers": {"Authorization": "Bearer TOKEN"}`, " --auth-token-file "+s.tokens
	}
	_, err := fmt.Fprintf(out, `%[5]s
MCP endpoint: %[1]s%[2]s (streamable HTTP)
In a client's configuration: {"mcpServers": {"vmcp": {"type": "http", "url": "%[1]s%[2]s"%[3]s}}}
How things stand: %[1]s/ (a page), %[1]s/status (JSON), or vmcp status --url %[1]s%[4]s
Ctrl-C ends it.
`, address, gateway.Path, header, option, backendsTable(report))
	return err
}
