// Command client is a client under test for the conformance suite of the Model
// Context Protocol. The suite starts it as
//
//	client [--chain] URL
//
// and tells it the rest in the environment: MCP_CONFORMANCE_SCENARIO,
// MCP_CONFORMANCE_PROTOCOL_VERSION and, for some scenarios, data in
// MCP_CONFORMANCE_CONTEXT. It is a plain client of mcp-go; with --chain it is
// the same client behind mcpclient.Wrap, middleware.Default and wire.Transport.
//
// Where all went well it prints "done".
//
// One behaviour serves every scenario: connect, log in where a 401 asks for it,
// list what there is and use all of it. The exceptions are methods of scenario.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// deadline ends a client that a scenario keeps waiting, before the suite does.
const deadline = 20 * time.Second

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	err := run(ctx, os.Args[1:], os.Getenv)
	cancel()
	if err == nil {
		_, err = fmt.Fprintln(os.Stdout, "done")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string) error {
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	chain := flags.Bool("chain", false, "put the chain in front of mcp-go's client")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("want one argument: the URL of the server")
	}
	s, err := scenarioOf(getenv)
	if err != nil {
		return err
	}
	return endpoint{flags.Arg(0), s, *chain}.visit(ctx)
}
