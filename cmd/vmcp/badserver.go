package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/spf13/cobra"
)

func newBadserver() *cobra.Command {
	var file, listen string
	var stdio, sse bool
	command := &cobra.Command{
		Use:   "badserver --script FILE",
		Short: "Run a server that breaks its promises as a script says",
		Long: `Runs a scripted MCP server, to test MCP clients in any language with: over
streamable HTTP, with --sse over the older HTTP+SSE transport, or with --stdio
over standard input and output. When it ends it prints each request that it got,
as a line of JSON on standard error.

The script is the JSON form of badserver.Script; the package comment of
github.com/mcp-candor/candor/badserver says what it can express.`,
		Example: `  echo '{"capabilities": {"tools": {}, "resources": {}},
    "answers": {"tools/list": [{"result": {"tools": []}}]}}' > boastful.json
  vmcp badserver --script boastful.json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := exclusive(command, "stdio", "sse", "listen"); err != nil {
				return usage{err}
			}
			if err := checkLoopback(listen); err != nil {
				return usage{err}
			}
			script, err := loadScript(file)
			if err != nil {
				return usage{err}
			}
			return act(command, badserver.New(script), listen, stdio, sse)
		},
	}
	flags := command.Flags()
	flags.StringVar(&file, "script", "", "`FILE` that describes the server (required)")
	flags.StringVar(&listen, "listen", "127.0.0.1:4484", "loopback `ADDRESS` to listen on")
	flags.BoolVar(&stdio, "stdio", false, "serve one client over standard input and output instead")
	flags.BoolVar(&sse, "sse", false, "serve the older HTTP+SSE transport instead")
	if err := command.MarkFlagRequired("script"); err != nil {
		panic(err) // the flag is defined above
	}
	return command
}

func loadScript(file string) (_ badserver.Script, err error) {
	f, err := os.Open(file)
	if err != nil {
		return badserver.Script{}, fmt.Errorf("--script: %w; name a file with a script", err)
	}
	defer func() { err = closing(err, f) }()
	script, err := badserver.Load(f)
	if err != nil {
		return badserver.Script{}, fmt.Errorf("--script %s: %w", file, err)
	}
	return script, nil
}

// act plays the script and then tells what the server got.
func act(command *cobra.Command, server *badserver.Server, listen string, stdio, sse bool) (err error) {
	defer func() { err = errors.Join(err, printRequests(command.ErrOrStderr(), server)) }()
	ctx := command.Context()
	if !stdio {
		return actOverHTTP(ctx, command.OutOrStdout(), server, sse, listen)
	}
	if err := server.Serve(ctx, command.InOrStdin(), command.OutOrStdout()); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func actOverHTTP(ctx context.Context, out io.Writer, server *badserver.Server, sse bool, address string) error {
	var handler http.Handler = server
	if sse {
		handler = server.SSE()
	}
	release := context.AfterFunc(ctx, func() { _ = server.Close() }) // what hangs must not hold up the end
	defer release()
	plain := &httpServer{Server: http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}}
	return plain.listenAndServe(ctx, address, func(at string) error {
		_, err := fmt.Fprintf(out, "bad server at http://%s/\nCtrl-C ends it.\n", at)
		return err
	}, func() error { return nil })
}

// printRequests leaves the HTTP headers out: they hold the client's secrets.
func printRequests(out io.Writer, server *badserver.Server) error {
	encoder := json.NewEncoder(out)
	for _, request := range server.Requests() {
		got := map[string]string{"transport": request.Transport, "connection": request.Connection, "message": string(request.Message)}
		if err := encoder.Encode(got); err != nil {
			return err
		}
	}
	return nil
}
