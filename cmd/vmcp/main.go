// Command vmcp puts many MCP servers behind one endpoint, lists what they
// offer, and audits what they promise.
//
//	vmcp serve       offer a session over many servers as one MCP endpoint
//	vmcp tools       list the servers and the tools of a session
//	vmcp check       audit what servers advertise
//	vmcp badserver   run a server that breaks its promises as a script says
//
// Exit status: 0 on success, 1 on failure, 2 on wrong usage or configuration; of
// vmcp check also 10 for a contradiction and 11 for a failure of a server.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that left is an error to close after, not the end
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	status := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}
