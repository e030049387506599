package main

import (
	"fmt"
	"io"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	var s setup
	var listen string
	var stdio bool
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve a session over many servers as one MCP endpoint",
		Long: `Builds one session over all servers and serves it as one MCP endpoint, over
streamable HTTP at /mcp or, with --stdio, over standard input and output. It
ends on Ctrl-C, on SIGTERM and, with --stdio, when the input ends.

There is no authentication yet, so it listens on loopback addresses only.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkLoopback(listen); err != nil {
				return usage{err}
			}
			return serve(command, &s, listen, stdio)
		},
	}
	s.flags(command)
	command.Flags().StringVar(&listen, "listen", "127.0.0.1:4483", "loopback `ADDRESS` to listen on")
	command.Flags().BoolVar(&stdio, "stdio", false, "serve one client over standard input and output instead")
	command.MarkFlagsMutuallyExclusive("stdio", "listen")
	return command
}

func serve(command *cobra.Command, s *setup, listen string, stdio bool) (err error) {
	builder, backends, log, err := s.open(command)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, log) }()
	session, err := builder.Build(command.Context(), backends)
	if err != nil {
		return noSession(command.ErrOrStderr(), false, err)
	}
	defer func() { err = closing(err, session) }()
	endpoint := gateway.New(session, identity())
	if stdio {
		return serveStdio(command, endpoint, session.Report())
	}
	return listenAndServe(command.Context(), endpoint, listen, func(at string) error {
		return announce(command.OutOrStdout(), session.Report(), "http://"+at+gateway.Path)
	})
}

// serveStdio leaves standard output to the protocol.
func serveStdio(command *cobra.Command, endpoint *gateway.Gateway, report vmcp.Report) error {
	if err := printBackends(command.ErrOrStderr(), report); err != nil {
		return err
	}
	ctx := command.Context()
	if err := endpoint.ServeStdio(ctx, command.InOrStdin(), command.OutOrStdout()); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// announce says what is served and how to reach it.
func announce(out io.Writer, report vmcp.Report, endpoint string) error {
	if err := printBackends(out, report); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, `
MCP endpoint: %[1]s (streamable HTTP)
In a client's configuration: {"mcpServers": {"vmcp": {"type": "http", "url": "%[1]s"}}}
Ctrl-C ends it.
`, endpoint)
	return err
}
