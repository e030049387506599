package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mark3labs/mcp-go/mcp"
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
	return errors.Join(
		fmt.Errorf("no session: %d of %d servers failed", len(failed.Report.Failed()), len(failed.Report.Backends)),
		printSession(out, asJSON, failed.Report, nil))
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
		fmt.Fprintf(table, "%s\t%s\n", tool.Name, oneLine(tool.Description, 72))
	}
	return table.Flush()
}

// printBackends prints the table of servers, and under it what can be done about
// each that is not ready.
func printBackends(out io.Writer, report vmcp.Report) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BACKEND\tSTATE\tTOOLS\tRESOURCES\tTEMPLATES\tPROMPTS\tREASON")
	for _, b := range report.Backends {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", b.ID, b.State, b.Tools, b.Resources, b.ResourceTemplates, b.Prompts, oneLine(reason(b), 1000))
	}
	for _, b := range report.Backends {
		if b.Remedy != "" {
			fmt.Fprintf(table, "\n%s: %s", b.ID, b.Remedy)
		}
	}
	fmt.Fprintln(table)
	return table.Flush()
}

func reason(b vmcp.BackendReport) string {
	if b.Reason == "" {
		return "-"
	}
	return b.Reason
}

// oneLine is a text that a server wrote, in one line, without control characters
// and not longer than a table can take.
func oneLine(text string, longest int) string {
	line := strings.Join(strings.Fields(strings.Map(printable, text)), " ")
	if runes := []rune(line); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return line
}
