package vmcp

import (
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/middleware"
)

// BugReport returns a text, in Markdown, to paste into an issue for the
// server's authors, or "" if the server keeps its promises or could not be
// asked. What the server answered is quoted: read it before you publish it.
func (a Audit) BugReport() string {
	return bugReport(a.ServerName, a.ServerVersion, a.ProtocolVersion, a.Findings)
}

// findings are what a report knows of the promises that a server broke.
func findings(contradictions []middleware.Contradiction) []Finding {
	var found []Finding
	for _, c := range contradictions {
		found = append(found, Finding{Capability: c.Capability, Method: c.Method, Verdict: Contradicted, Answer: c.Answer()})
	}
	return found
}

func bugReport(name, version, protocol string, findings []Finding) string {
	var contradicted, broken []Finding
	for _, finding := range findings {
		switch finding.Verdict {
		case Contradicted:
			contradicted = append(contradicted, finding)
		case Broken:
			broken = append(broken, finding)
		}
	}
	if len(contradicted)+len(broken) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s does not keep what it advertises\n\n", oneLine(nameOr(name, "The server")+" "+version))
	fmt.Fprintf(&text, "In its handshake (protocol %s) the server advertises capabilities whose methods do not work:\n\n", protocol)
	for _, finding := range append(contradicted, broken...) {
		fmt.Fprintf(&text, "- it advertises `%s`, and answers `%s` with: %s\n", finding.Capability, finding.Method, oneLine(finding.Answer))
	}
	if len(contradicted) > 0 {
		fmt.Fprintf(&text, "\nA capability in the handshake is a promise that its methods exist: clients that take %d (Method not found) as fatal lose the whole server. "+
			"Either answer the method, with an empty list if there is nothing, or leave the capability out of the handshake.\n", mcp.METHOD_NOT_FOUND)
	}
	return text.String()
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// oneLine keeps what a server says from becoming a heading or a list of
// its own.
func oneLine(text string) string { return plain.Line(text, 1_000) }
