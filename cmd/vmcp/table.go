package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/vmcp"
)

// printBackends prints the table of servers, and under it what can be done about
// each that is not ready. It writes once: on a terminal the log comes in between.
func printBackends(out io.Writer, report vmcp.Report) error {
	_, err := io.WriteString(out, backendsTable(report))
	return err
}

func backendsTable(report vmcp.Report) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BACKEND\tSTATE\tTOOLS\tRESOURCES\tTEMPLATES\tPROMPTS\tREASON")
	for _, b := range report.Backends {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", plain.Line(b.ID, 80), plain.Line(string(b.State), 20), b.Tools, b.Resources, b.ResourceTemplates, b.Prompts, plain.Line(reason(b), 1000))
	}
	before := "\n"
	for _, b := range report.Backends {
		if b.Remedy != "" {
			fmt.Fprintf(table, "%s%s: %s\n", before, plain.Line(b.ID, 80), plain.Line(b.Remedy, 1000))
			before = ""
		}
	}
	_ = table.Flush() // a strings.Builder takes everything
	return text.String()
}

func reason(b vmcp.BackendReport) string {
	if b.Reason == "" {
		return "-"
	}
	return b.Reason
}
