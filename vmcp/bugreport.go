package vmcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/middleware"
)

// BugReport returns a text, in Markdown, to paste into an issue for the
// server's authors, or "" if the server keeps its promises or could not be
// asked. A promise that is broken and a method that failed, which may pass, are
// told apart. What the server answered is quoted: read it before you publish it.
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

// A section is about the findings of one kind.
type section struct {
	has   func(Finding) bool
	begin string
	line  string // about capability, method and answer
	end   string
}

// sections have what accuses the server first.
var sections = []section{
	{
		has:   func(f Finding) bool { return f.Verdict == Contradicted && !f.unaskable },
		begin: "In its handshake (protocol %s) the server advertises capabilities whose methods do not work:",
		line:  "- it advertises `%s`, and answers `%s` with: %s\n",
		end: fmt.Sprintf("A capability in the handshake is a promise that its methods exist: clients that take %d (Method not found) as fatal lose the whole server. "+
			"Either answer the method, with an empty list if there is nothing, or leave the capability out of the handshake.", mcp.METHOD_NOT_FOUND),
	},
	{
		has:   func(f Finding) bool { return f.unaskable },
		begin: "In its handshake (protocol %s) the server advertises capabilities whose lists have entries that nobody can ask for:",
		line:  "- it advertises `%s`, and answers `%s` with: %s\n",
		end:   "A client asks for a tool and a prompt by its name, and for a resource by its URI: each needs one, and no two the same.",
	},
	{
		has:   func(f Finding) bool { return f.Verdict == Broken },
		begin: "Of the capabilities that the server advertises (protocol %s), these methods failed when they were asked:",
		line:  "- of `%s`, `%s` failed with: %s\n",
		end:   "This may pass, for example where something that the server needs was away: ask again before you look for a mistake.",
	},
}

func bugReport(name, version, protocol string, findings []Finding) string {
	var text strings.Builder
	for _, section := range sections {
		section.write(&text, protocol, findings)
	}
	if text.Len() == 0 {
		return ""
	}
	return oneLine(nameOr(name, "The server")+" "+version) + " " + charge(findings) + "\n" + text.String()
}

// charge is what the title says of the server: only a broken promise is called so.
func charge(findings []Finding) string {
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == Contradicted }) {
		return "does not keep what it advertises"
	}
	return "fails at what it advertises"
}

func (s section) write(text *strings.Builder, protocol string, findings []Finding) {
	about := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !s.has(f) })
	if len(about) == 0 {
		return
	}
	fmt.Fprintf(text, "\n"+s.begin+"\n\n", protocol)
	for _, finding := range about {
		fmt.Fprintf(text, s.line, finding.Capability, finding.Method, oneLine(finding.Answer))
	}
	fmt.Fprintf(text, "\n%s\n", s.end)
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
