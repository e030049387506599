package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	statusOK           = 0
	statusFailure      = 1
	statusUsage        = 2
	statusContradicted = 10
	statusDegraded     = 10
	statusFailed       = 11
)

// streams are where the command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// usage is an error of who called the command: of flags, arguments or the
// configuration.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// verdict is an exit status when all has been said already.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// run is the command without the process: it returns the exit status.
func run(ctx context.Context, args []string, io streams) int {
	root := newRoot(io)
	root.SetArgs(args)
	running := false // from here on an error is one of usage only if it says so
	for _, command := range root.Commands() {
		begin := command.RunE
		command.RunE = func(command *cobra.Command, args []string) error {
			running = true
			return begin(command, args)
		}
	}
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return statusOK
	}
	if said, ok := errors.AsType[verdict](err); ok {
		return int(said)
	}
	fmt.Fprintf(io.err, "vmcp: %s\n", strings.TrimSpace(err.Error()))
	if _, ok := errors.AsType[usage](err); ok || !running {
		fmt.Fprintf(io.err, "\nRun '%s --help' for how to use it.\n", command.CommandPath())
		return statusUsage
	}
	return statusFailure
}

func newRoot(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "vmcp",
		Short: "Many MCP servers behind one endpoint, and what they promise and do not keep",
		Long: `vmcp puts many MCP servers behind one endpoint, lists what they offer, and
audits what they promise.

Without --config it runs on two servers inside the program: "honest", and
"boastful", which advertises resources and prompts that it does not have.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.AddCommand(newServe(), newTools(), newStatus(), newCheck(), newValidate(), newBadserver())
	return root
}

// version is that of the module, as the Go tool recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// identity is what servers and clients are told.
func identity() mcp.Implementation {
	return mcp.Implementation{Name: "vmcp", Title: "vmcp", Version: version()}
}
