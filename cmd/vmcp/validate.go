package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/spf13/cobra"
)

func newValidate() *cobra.Command {
	var file string
	var schema bool
	command := &cobra.Command{
		Use:   "validate [FILE | --config FILE | --schema]",
		Short: "Check a configuration file without connecting to anything",
		Long: `Checks a configuration file as serve would, without starting or connecting to
anything. Of a file that is good it prints what would be served, and notes on
what has no effect. Of any other it prints each thing that is wrong, with line,
key and remedy.

With --schema it prints the JSON Schema of the file, for editors.

Exit status: 0 if the file is good, 2 if not.`,
		Example: `  vmcp validate servers.json
  vmcp validate --schema > vmcp.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := exclusive(command, "schema", "config"); err != nil {
				return usage{err}
			}
			if schema {
				_, err := command.OutOrStdout().Write(config.Schema())
				return err
			}
			file, err := oneFile(file, args)
			if err != nil {
				return usage{err}
			}
			return validate(command, file)
		},
	}
	command.Flags().StringVar(&file, "config", "", "the configuration `FILE` to check, if it is not an argument")
	command.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of a configuration file instead")
	return command
}

// oneFile is the one that is named, by the flag or by the argument.
func oneFile(flag string, args []string) (string, error) {
	if len(args) > 0 && flag != "" {
		return "", errors.New("a FILE and --config exclude each other: give one")
	}
	if len(args) > 0 {
		flag = args[0]
	}
	if flag == "" {
		return "", errors.New("there is no file to check: name it, as in vmcp validate servers.json")
	}
	return flag, nil
}

func validate(command *cobra.Command, file string) error {
	c, err := config.Read(file, os.LookupEnv)
	if err != nil {
		return printProblems(command.OutOrStdout(), file, err)
	}
	return printConfig(command.OutOrStdout(), file, c)
}

// printProblems prints one line for each.
func printProblems(out io.Writer, file string, err error) error {
	problems := problemsOf(err)
	for _, problem := range problems {
		if _, err := fmt.Fprintln(out, problem); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "\n%s: %s\n", plain.Line(file, 1000), counted(len(problems), "problem")); err != nil {
		return err
	}
	return verdict(statusUsage)
}

// problemsOf takes apart what config.Read returns.
func problemsOf(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var texts []string
	for _, problem := range joined.Unwrap() {
		texts = append(texts, problem.Error())
	}
	return texts
}

// printConfig prints nothing that may be secret: a target's name has none.
func printConfig(out io.Writer, file string, c config.Config) error {
	fmt.Fprintf(out, "%s: good, %s\n\n", plain.Line(file, 1000), counted(len(c.Servers), "server"))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVER\tTYPE\tTARGET\tSETTINGS")
	for _, s := range c.Servers {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.ID, s.Type(), plain.Line(connect.To(s.Target).String(), 80), settingsOf(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	printGateway(out, c.Gateway)
	for _, note := range c.Notes {
		fmt.Fprintf(out, "\nnote: %s", note)
	}
	if len(c.Notes) > 0 {
		fmt.Fprintln(out)
	}
	return nil
}

func printGateway(out io.Writer, g config.Gateway) {
	scheme := "http"
	if g.TLS != (config.TLS{}) {
		scheme = "https"
	}
	fmt.Fprintf(out, "\ngateway: %s, names by %s, soft deadline %s, idle after %s, draining for %s, status tool %s, watching the file %s\n",
		scheme, g.Names, g.SoftDeadline, g.Idle, g.DrainTimeout, onOff(!g.NoStatusTool), onOff(g.Watch))
	fmt.Fprintf(out, "limits: %d sessions, %d calls, a request's body of %s and headers of %s, an answer of %s\n",
		g.Sessions, g.Calls, config.Size(g.Body), config.Size(g.Header), config.Size(g.Answer))
}

// settingsOf names the settings that are not the default.
func settingsOf(s config.Server) string {
	changed := s.Changed()
	if len(changed) == 0 {
		return "-"
	}
	return strings.Join(changed, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
