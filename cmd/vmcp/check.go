package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/spf13/cobra"
)

func newCheck() *cobra.Command {
	var s setup
	var address string
	var asJSON bool
	command := &cobra.Command{
		Use:   "check [--config FILE | --url URL | -- COMMAND ARG...]",
		Short: "Audit what servers advertise",
		Long: `Asks each method of each capability that a server advertises, says what came
back, and gives a verdict: kept, contradicted (the server does not have the
method, its answer has no list, or the list has entries that nobody can ask for:
without a name, or of the name of another one) or failed. Tools are never
called. For a server that does not keep its word, or that fails, it prints a
text to send to the server's authors, which tells the two apart: a failure may
pass.

Exit status: 0 if all is kept, 10 if something is contradicted, 11 if something
failed, 2 on wrong usage or configuration.`,
		Example: `  vmcp check --url https://mcp.example.com/mcp
  vmcp check -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(command *cobra.Command, args []string) error {
			servers, err := checkSource(command, args, address)
			if err != nil {
				return usage{err}
			}
			return check(command, &s, servers, asJSON)
		},
	}
	s.flags(command)
	command.Flags().StringVar(&address, "url", "", "the `URL` of one server to audit")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func check(command *cobra.Command, s *setup, servers []config.Server, asJSON bool) (err error) {
	builder, backends, log, err := s.open(command, servers...)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, log) }()
	audits, err := builder.Audit(command.Context(), backends)
	if err != nil {
		return err
	}
	if err := printAudits(command.OutOrStdout(), asJSON, audits); err != nil {
		return err
	}
	return auditStatus(audits)
}

// checkSource returns the one server that the arguments name, or none where
// they leave it to the configuration.
func checkSource(command *cobra.Command, args []string, address string) ([]config.Server, error) {
	file, url := command.Flags().Changed("config"), command.Flags().Changed("url")
	switch {
	case url && len(args) > 0 || file && (url || len(args) > 0):
		return nil, errors.New("--config, --url and a command exclude each other: give one")
	case len(args) > 0 && command.ArgsLenAtDash() != 0:
		return nil, fmt.Errorf("unknown argument %q; a command to audit stands after --", args[0])
	case url:
		return urlSource(address)
	case len(args) > 0:
		return theServer(connect.Stdio{Command: args[0], Args: args[1:]}), nil
	default:
		return nil, nil
	}
}

// urlSource does not say what is wrong with a URL: it may hold secrets.
func urlSource(address string) ([]config.Server, error) {
	target, ok := config.TargetAt(address)
	if !ok {
		return nil, errors.New("--url is not an absolute http or https URL; write it like https://example.com/mcp")
	}
	return theServer(target), nil
}

func theServer(target connect.Target) []config.Server {
	return []config.Server{{Backend: vmcp.Backend{ID: "server"}, Target: target}}
}

func printAudits(out io.Writer, asJSON bool, audits []vmcp.Audit) error {
	if asJSON {
		type audited struct {
			vmcp.Audit
			Verdict   vmcp.Verdict `json:"verdict"`
			BugReport string       `json:"bugReport,omitempty"`
		}
		list := make([]audited, len(audits))
		for i, audit := range audits {
			list[i] = audited{audit, audit.Verdict(), audit.BugReport()}
		}
		return printJSON(out, list)
	}
	for i, audit := range audits {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := printAudit(out, audit); err != nil {
			return err
		}
	}
	return nil
}

func printAudit(out io.Writer, audit vmcp.Audit) error {
	fmt.Fprintf(out, "%s: %s\n", audit.ID, audit.Verdict())
	if audit.ProtocolVersion != "" {
		fmt.Fprintf(out, "%s %s, protocol %s, at %s\n", plain.Line(audit.ServerName, 80), plain.Line(audit.ServerVersion, 40), audit.ProtocolVersion, audit.Target)
	}
	if audit.Error != "" {
		fmt.Fprintf(out, "could not be asked: %s; %s\n", plain.Line(audit.Error, 1000), audit.Remedy)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(audit.Findings) > 0 {
		fmt.Fprintln(table, "  CAPABILITY\tMETHOD\tVERDICT\tWHAT CAME BACK")
	}
	for _, f := range audit.Findings {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", f.Capability, f.Method, f.Verdict, plain.Line(f.Answer, 200))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if report := audit.BugReport(); report != "" {
		fmt.Fprintf(out, "\n--- for the server's authors ---\n%s--- end ---\n", plain.Text(report))
	}
	return nil
}

func auditStatus(audits []vmcp.Audit) error {
	worst := statusOK
	for _, audit := range audits {
		switch audit.Verdict() {
		case vmcp.Broken:
			worst = statusFailed
		case vmcp.Contradicted:
			worst = max(worst, statusContradicted)
		}
	}
	if worst == statusOK {
		return nil
	}
	return verdict(worst)
}
