package main

import (
	"context"
	"fmt"
	"io"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/spf13/cobra"
)

func newServe(io streams) *cobra.Command {
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
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if !stdio {
				if err := checkLoopback(listen); err != nil {
					return err
				}
			}
			builder, backends, log, err := s.open(io.err)
			if err != nil {
				return err
			}
			defer func() { err = closing(err, log) }()
			session, err := builder.Build(command.Context(), backends)
			if err != nil {
				return noSession(io.err, false, err)
			}
			defer func() { err = closing(err, session) }()
			if stdio {
				return serveStdio(command.Context(), io, session)
			}
			return listenAndServe(command.Context(), gateway.New(session, identity()), listen, func(at string) error {
				return announce(io.out, session.Report(), "http://"+at+gateway.Path)
			})
		},
	}
	s.flags(command)
	command.Flags().StringVar(&listen, "listen", "127.0.0.1:4483", "loopback `ADDRESS` to listen on")
	command.Flags().BoolVar(&stdio, "stdio", false, "serve one client over standard input and output instead")
	return command
}

func serveStdio(ctx context.Context, io streams, session *vmcp.Session) error {
	if err := printBackends(io.err, session.Report()); err != nil {
		return &failure{statusFailure, err}
	}
	if err := gateway.New(session, identity()).ServeStdio(ctx, io.in, io.out); err != nil && ctx.Err() == nil {
		return &failure{statusFailure, err}
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
