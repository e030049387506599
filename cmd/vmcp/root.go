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
	statusFailed       = 11
)

// streams are where the command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// failure is an error with the exit status that it costs. Every other error is
// a matter of usage: cobra's of flags and arguments, and the configuration's.
type failure struct {
	status int
	err    error // nil if all has been said already
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit status %d", f.status)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// run is the command without the process: it returns the exit status.
func run(ctx context.Context, args []string, io streams) int {
	root := newRoot(io)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return statusOK
	}
	if failed, ok := errors.AsType[*failure](err); ok {
		if failed.err != nil {
			fmt.Fprintf(io.err, "vmcp: %v\n", failed.err)
		}
		return failed.status
	}
	fmt.Fprintf(io.err, "vmcp: %s\n\nRun '%s --help' for how to use it.\n", strings.TrimSpace(err.Error()), command.CommandPath())
	return statusUsage
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
	root.AddCommand(newServe(io), newTools(io), newCheck(io), newBadserver(io))
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
