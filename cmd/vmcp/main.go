// Command vmcp puts many MCP servers behind one endpoint, lists what they
// offer, and audits what they promise.
//
//	vmcp serve       offer a session over many servers as one MCP endpoint
//	vmcp tools       list the servers and the tools of a session
//	vmcp check       audit what servers advertise
//	vmcp validate    check a configuration file without connecting
//	vmcp status      tell how the backends of a running endpoint stand
//	vmcp badserver   run a server that breaks its promises as a script says
//
// vmcp serve ends on SIGTERM and Ctrl-C, after the calls in flight, and reads its
// configuration again on SIGHUP and when the file changes. docs/gateway.md says
// how to run it, docs/configuration.md what the file may have. A second Ctrl-C
// ends it at once.
//
// Exit status:
//
//	0    it worked: all promises are kept (check), all servers are ready (status)
//	1    it failed: no server, or no gateway, can be reached
//	2    wrong usage or configuration
//	10   a promise is broken (check), a server is degraded or connecting (status)
//	11   something failed otherwise (check), a server failed (status)
//	130  Ctrl-C came a second time
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that left is an error to close after, not the end
	ctx, stop := withInterrupt(context.Background())
	ctx, stopHangup := withHangup(ctx)
	status := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stopHangup()
	stop()
	os.Exit(status)
}
