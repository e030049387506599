package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", oneLine(b.ID, 80), oneLine(string(b.State), 20), b.Tools, b.Resources, b.ResourceTemplates, b.Prompts, oneLine(reason(b), 1000))
	}
	before := "\n"
	for _, b := range report.Backends {
		if b.Remedy != "" {
			fmt.Fprintf(table, "%s%s: %s\n", before, oneLine(b.ID, 80), oneLine(b.Remedy, 1000))
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

// oneLine is a text that a server wrote, in one line, without control characters
// and not longer than a table can take.
func oneLine(text string, longest int) string {
	line := strings.Join(strings.Fields(strings.Map(printable, text)), " ")
	if runes := []rune(line); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return line
}
