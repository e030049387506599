// Package config reads the configuration of the command vmcp: the "mcpServers" JSON that MCP clients
// use, with keys of its own for how vmcp treats a server, and "gateway" for the endpoint. It checks
// all of a file before anything is started, and names file, line, key and remedy of each thing that is
// wrong, without ever quoting a value, since any of them may be a secret.
//
// Every key stands in one table, with its type, default and effect: the reader, the JSON Schema for
// editors ([Schema], docs/vmcp.schema.json) and docs/configuration.md are made of it.
//
// [Watch] tells when a file has changed.
package config

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// maxSize is the most that is read of a configuration file, in bytes.
const maxSize = 1 << 20

// example is the smallest file that works. Remedies quote it.
const example = `{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}`

// Config is what a configuration file says: checked, and with every ${VARIABLE} replaced.
// It holds secrets; only Notes is fit for a log.
type Config struct {
	// Servers has at least one element, in the order of the file.
	Servers []Server
	// Gateway is complete: what the file does not say has its default.
	Gateway Gateway
	// Notes has one line for each thing in the file that is no error but has no effect, or another
	// effect than in the program the file was written for: ignored keys, disabled servers. In the
	// order of the file, and without any value from it.
	Notes []string
}

// Server is one server: the backend of a session, but for its Connector and its time-outs, which whoever
// connects makes of Target and Timeouts. Zero is for the default of each.
type Server struct {
	vmcp.Backend

	// Target is a connect.Stdio, whose Secrets are what variables put into Args, but for paths; or a
	// connect.HTTP or a connect.SSE, whose URL is absolute, http or https, and may hold a password.
	Target          connect.Target
	Timeouts        Timeouts
	ProtocolVersion string // one of mcp.ValidProtocolVersions, or empty for the newest that works
}

// Read reads and checks a configuration file: see Parse for what it may hold, and for
// the errors. The file may be a pipe, so that secrets need not lie on a disk.
func Read(file string, lookupEnv func(string) (string, bool)) (Config, error) {
	data, problem := readFile(file)
	if problem != nil {
		return Config{}, errors.Join(problem)
	}
	return Parse(file, data, lookupEnv)
}

// Parse checks data, the content of file, and says what is in it.
//
// The format is the "mcpServers" JSON of Claude Desktop, Claude Code, Cursor, Cline, Windsurf and
// many others; comments and trailing commas are fine. Beside their keys a server may have required,
// prefix, timeouts, tools, tolerance, protocolVersion, retry, breaker and forwardHeaders, and the file
// "gateway"; docs/configuration.md says what each does. In all of these a key that is null or empty
// counts as absent, but for an empty list of the tools to include. In command, args, env, cwd, url
// and headers, and in cert and key of gateway.tls:
//
//   - ${NAME} and ${env:NAME} are replaced by the variable that lookupEnv knows, which may be empty.
//     One that is not set is an error, except in ${NAME:-default}.
//   - $${ stands for ${.
//   - Nothing else is replaced: neither $NAME nor ~. What a variable holds is not looked at again.
//
// The error joins (as errors.Join does) one *Error for each thing that is wrong, in the order
// of the file. Neither they nor the notes quote a value of the file or of a variable, since any of
// them may be a secret: they name keys, variables and lines.
func Parse(file string, data []byte, lookupEnv func(string) (string, bool)) (Config, error) {
	d, problem := parseDocument(file, data)
	if problem != nil {
		return Config{}, errors.Join(problem)
	}
	r := newReader(d, lookupEnv)
	servers, gateway := r.file(entry{at: d.root.StartOffset, value: d.root})
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return Config{Servers: servers, Gateway: gateway, Notes: r.allNotes()}, nil
}

// readFile never reads much more than maxSize, however long the file or the pipe is.
func readFile(file string) ([]byte, *Error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: file, Problem: "this is a directory", Remedy: "Name the file in it."}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, unreadable(file, err)
	}
	return data, nil
}

func unreadable(file string, err error) *Error {
	problem := &Error{File: file, Problem: "the file cannot be read", Remedy: "Check the path."}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem.Problem = "no such file"
		problem.Remedy = "Check the path, or write the file, for example " + example + "."
	case errors.Is(err, fs.ErrPermission):
		problem.Problem = "no permission to read the file"
		problem.Remedy = "Make it readable for the user that runs vmcp."
	}
	return problem
}
