// Command bench measures what a gateway costs: it starts 50 backends of 20
// tools, asks one of them directly, and then all of them through vmcp serve, by
// the same client. It prints the figures beside what they should be. The client,
// vmcp serve and the backends are processes of their own, as they are in use.
//
//	bench --vmcp bin/vmcp            # backends over loopback HTTP, all in one process
//	bench --vmcp bin/vmcp --stdio    # backends over stdio, a process each
//
// Its exit status says whether it could measure, not whether the aims are met.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// plan is what is measured.
type plan struct {
	vmcp            string // the program
	backends, tools int
	calls, sessions int
	stdio           bool
}

func main() {
	var p plan
	serve := flag.String("be", "", "be the `BACKENDS`: http, all of them, or stdio, one of them")
	flag.StringVar(&p.vmcp, "vmcp", "bin/vmcp", "the `PROGRAM` to measure")
	flag.IntVar(&p.backends, "backends", 50, "how many backends")
	flag.IntVar(&p.tools, "tools", 20, "how many tools each backend has")
	flag.IntVar(&p.calls, "calls", 2000, "how many calls are measured, each way and protocol")
	flag.IntVar(&p.sessions, "sessions", 15, "how many sessions are set up")
	flag.BoolVar(&p.stdio, "stdio", false, "backends over stdio instead of HTTP")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := map[string]func(context.Context) error{"": p.run, "http": p.serveHTTP, "stdio": p.serveStdio}
	if err := run[*serve](ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing but the signals' handler is left open
	}
}
