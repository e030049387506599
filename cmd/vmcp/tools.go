package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/spf13/cobra"
)

func newTools() *cobra.Command {
	var s setup
	var asJSON bool
	command := &cobra.Command{
		Use:   "tools",
		Short: "List the servers and the tools of a session",
		Long: `Builds one session over all servers and prints them, with their state and the
reason where something is missing, and the tools under the names that the
session gives them.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return list(command, &s, asJSON) },
	}
	s.flags(command)
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func list(command *cobra.Command, s *setup, asJSON bool) (err error) {
	builder, backends, log, err := s.open(command)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, log) }()
	session, err := builder.Build(command.Context(), backends)
	if err != nil {
		return noSession(command.OutOrStdout(), asJSON, err)
	}
	defer func() { err = closing(err, session) }()
	return printSession(command.OutOrStdout(), asJSON, session.Report(), session.Tools())
}

// noSession still prints how each server stands: that says more than the error.
func noSession(out io.Writer, asJSON bool, err error) error {
	failed, ok := errors.AsType[*vmcp.BuildError](err)
	if !ok {
		return err
	}
	return errors.Join(why(failed.Report), printSession(out, asJSON, failed.Report, nil))
}

// why names the servers without which there is no session; their reasons are
// printed with the others.
func why(report vmcp.Report) error {
	var needed []string
	for _, b := range report.Backends {
		if b.Required && b.State == vmcp.Failed {
			needed = append(needed, b.ID)
		}
	}
	if len(needed) > 0 {
		return fmt.Errorf("no session: required and failed: %s", strings.Join(needed, ", "))
	}
	return fmt.Errorf("no session: %d of %d servers failed", len(report.Failed()), len(report.Backends))
}

// printSession prints the report and the tools.
func printSession(out io.Writer, asJSON bool, report vmcp.Report, tools []mcp.Tool) error {
	if asJSON {
		return printJSON(out, struct {
			vmcp.Report
			Tools []mcp.Tool `json:"tools"`
		}{report, append([]mcp.Tool{}, tools...)})
	}
	if err := printBackends(out, report); err != nil || len(tools) == 0 {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nTOOL\tDESCRIPTION")
	for _, tool := range tools {
		fmt.Fprintf(table, "%s\t%s\n", tool.Name, plain.Line(tool.Description, 72))
	}
	return table.Flush()
}
