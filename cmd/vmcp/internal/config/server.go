package config

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// The transports, as files have them.
const (
	typeStdio = "stdio"
	typeHTTP  = "http"
	typeSSE   = "sse"
)

// typeNames are the names that files have for the transports.
var typeNames = map[string]string{
	"stdio":           typeStdio,
	"http":            typeHTTP,
	"streamable-http": typeHTTP,
	"streamableHttp":  typeHTTP,
	"streamable_http": typeHTTP,
	"sse":             typeSSE,
}

// fields are the keys of a server that have an effect and a value, under their first name.
type fields map[string]entry

// server checks nothing more of a server that is disabled: it may be so because it is not ready.
func (r *reader) server(e entry) (s Server, disabled bool) {
	members, ok := r.members(e, `Write {"command": ...} or {"url": ...}.`)
	if !ok {
		return Server{}, false
	}
	if r.disabled(members) {
		r.note(e, e.path+" is disabled and left out")
		return Server{}, true
	}
	r.checkName(e)
	f := r.fields(e, members)
	s.ID = e.name
	transport, ok := r.declaredType(f)
	if !ok {
		return s, false
	}
	command, isCommand := f["command"]
	address, isURL := f["url"]
	switch {
	case isCommand && isURL:
		r.problem(e, fmt.Sprintf("both a %q and a %q", command.name, address.name),
			`Keep "command" for a program to start, or "url" for a server to connect to.`)
	case isCommand:
		s.Target = r.local(transport, f)
	case isURL:
		s.Target = r.remote(transport, f)
	default:
		r.problem(e, `neither a "command" nor a "url"`,
			`Give it a "command" to start, such as "npx", or a "url" to connect to, such as "https://example.com/mcp".`)
	}
	r.settings(&s, f)
	return s, false
}

// settings fills in what the server's transport has no part in.
func (r *reader) settings(s *Server, f fields) {
	for _, k := range settingsTable {
		if at, ok := f[k.name]; ok {
			k.read(r, at, s)
		}
	}
	if at, ok := f["forwardHeaders"]; ok {
		r.checkForwarded(at, s)
	}
}

// disabled is true if any of the keys that can say so does.
func (r *reader) disabled(members []entry) bool {
	disabled := false
	for _, m := range members {
		if serverKeys[m.name] != "disabled" || m.kind() == 'n' {
			continue
		}
		if m.kind() != 't' && m.kind() != 'f' {
			r.wrongKind(m, "true or false", "Write true or false, without quotes.")
			continue
		}
		disabled = disabled || (m.kind() == 't') == (m.name == "disabled")
	}
	return disabled
}

const goodName = `Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`

var badRunes = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func (r *reader) checkName(e entry) {
	if vmcp.ValidID(e.name) {
		return
	}
	remedy := goodName
	if name := suggestName(e.name); name != "" {
		remedy = fmt.Sprintf("Rename it, for example to %q.", name)
	}
	r.problem(e, "not a name that can be the prefix of a tool's name", remedy)
}

func suggestName(name string) string {
	name = strings.TrimLeft(badRunes.ReplaceAllString(name, "-"), "_-")
	return strings.TrimRight(name[:min(len(name), 32)], "_-")
}

func (r *reader) fields(server entry, members []entry) fields {
	f := fields{}
	for _, m := range members {
		key, known := serverKeys[m.name]
		_, ignored := withoutEffect[m.name]
		switch {
		case isComment(m.name) || key == "disabled" || known && m.blank() && !meansNothing(key, m):
		case known:
			r.addField(f, key, m)
		case ignored:
			r.ignore(server, m)
		default:
			r.unknownServerKey(m)
		}
	}
	return f
}

// addField lets a file have several names of one key, for several programs, as long as they agree.
func (r *reader) addField(f fields, key string, e entry) {
	first, ok := f[key]
	switch {
	case !ok:
		f[key] = e
	case first.kind() != e.kind() || first.text() != e.text():
		r.problem(e, fmt.Sprintf("another name of %q in line %d, with another value", first.name, r.line(first)), "Keep one of the two.")
	}
}

func (r *reader) unknownServerKey(e entry) {
	near := meant[e.name]
	if near == "" {
		near = nearest(e.name, serverKeyNames)
	}
	if near == "" {
		r.problem(e, "unknown key", "Remove it: vmcp knows "+listed(namesOf(allServerKeys), "and")+".")
		return
	}
	r.problem(e, "unknown key", fmt.Sprintf("Did you mean %q?", near))
}

// declaredType is what "type" says; empty where there is none.
func (r *reader) declaredType(f fields) (declared string, ok bool) {
	e, ok := f["type"]
	if !ok {
		return "", true
	}
	if e.kind() == '{' { // The command line of Cline writes {"transport": {"type": ..., "url": ...}}.
		r.wrongKind(e, "a string", "Move what is in it one level up.")
		return "", false
	}
	if e.kind() == '"' {
		if declared, ok = typeNames[e.text()]; ok {
			return declared, true
		}
	}
	r.problem(e, "not a transport that vmcp knows",
		`Write "stdio", "http" (or "streamable-http", "streamableHttp", "streamable_http") or "sse".`)
	return "", false
}

// local fills in a server that is a program to start.
func (r *reader) local(transport string, f fields) (target connect.Stdio) {
	if transport == typeHTTP || transport == typeSSE {
		r.problem(f["type"], fmt.Sprintf(`says %q, but there is a "command"`, transport), `Write "stdio", or a "url" instead of the "command".`)
	}
	command, ok := r.text(f["command"])
	if ok && strings.TrimSpace(command) == "" {
		r.problem(f["command"], "is empty", `Name the program to start, such as "npx".`)
	}
	target.Command = command
	if e, ok := f["args"]; ok {
		before := len(r.variables.found)
		target.Args = r.list(e, `Write ["-y", "some-package"].`)
		target.Secrets = secretsAmong(r.variables.found[before:])
	}
	if e, ok := f["env"]; ok {
		target.Env = r.texts(e, envRule)
	}
	if e, ok := f["cwd"]; ok {
		target.Dir, _ = r.text(e)
	}
	if e, ok := f["headers"]; ok {
		r.problem(e, `only a server with a "url" has "headers"`, `Remove it, or pass the value in "env".`)
	}
	return target
}

// secretsAmong leaves out what variables such as HOME hold.
func secretsAmong(values []string) []string {
	var secrets []string
	for _, value := range values {
		if value != "" && !strings.HasPrefix(value, "/") {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// remote fills in a server to connect to.
func (r *reader) remote(transport string, f fields) connect.Target {
	if transport == typeStdio {
		r.problem(f["type"], `says "stdio", but there is no "command"`, `Write "http" or "sse", or a "command" instead of the "url".`)
	}
	address, guess := r.address(f["url"])
	var headers map[string]string
	if e, ok := f["headers"]; ok {
		headers = r.texts(e, headerRule)
	}
	for _, key := range []string{"args", "env", "cwd"} {
		if e, ok := f[key]; ok {
			r.problem(e, fmt.Sprintf(`only a server with a "command" has %q`, key), `Remove it, or pass the value in "headers".`)
		}
	}
	if cmp.Or(transport, guess) == typeSSE {
		return connect.SSE{URL: address, Headers: headers}
	}
	return connect.HTTP{URL: address, Headers: headers}
}

// address is a URL, and the transport that it suggests.
func (r *reader) address(e entry) (address, transport string) {
	address, ok := r.text(e)
	if !ok {
		return "", ""
	}
	u, err := url.Parse(address) // err quotes the address
	if err != nil || !GoodURL(u) || address != strings.TrimSpace(address) {
		r.problem(e, "not an absolute http or https URL", `Write it like "https://example.com/mcp".`)
		return "", ""
	}
	if e.name == "httpUrl" {
		return address, typeHTTP
	}
	return address, typeOfPath(u.Path)
}

// typeOfPath is the transport that the path of a URL suggests where nothing else says.
func typeOfPath(path string) string {
	if strings.HasSuffix(strings.TrimRight(path, "/"), "/sse") {
		return typeSSE
	}
	return typeHTTP
}

// TargetAt is what a URL is taken for where nothing else is said: SSE where its path ends in /sse, else
// streamable HTTP. It is false of what is no absolute http or https URL.
func TargetAt(address string) (connect.Target, bool) {
	u, err := url.Parse(address) // err quotes the address
	switch {
	case err != nil || !GoodURL(u):
		return nil, false
	case typeOfPath(u.Path) == typeSSE:
		return connect.SSE{URL: address}, true
	default:
		return connect.HTTP{URL: address}, true
	}
}

// Type is "stdio", "http" (streamable HTTP) or "sse".
func (s Server) Type() string {
	switch s.Target.(type) {
	case connect.HTTP:
		return typeHTTP
	case connect.SSE:
		return typeSSE
	default:
		return typeStdio
	}
}

// GoodURL says whether u is an absolute http or https URL.
func GoodURL(u *url.URL) bool {
	_, err := strconv.ParseUint(u.Port(), 10, 16)
	goodPort := u.Port() == "" || err == nil
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && goodPort
}

// textsRule is what holds for an object of strings.
type textsRule struct {
	remedy string                   // for what is no such object
	same   func(name string) string // names with the same result are one name
	name   func(name string) fault
	value  func(value string) fault
}

var envRule = textsRule{
	remedy: `Write {"NAME": "value"}.`,
	same:   func(name string) string { return name },
	name: func(name string) fault {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fault{`the name of a variable cannot be empty or have a "=" in it`, `Write {"NAME": "value"}.`}
		}
		return fault{}
	},
	value: func(string) fault { return fault{} },
}

var headerName = regexp.MustCompile(vmcp.HeaderNamePattern)

// headerRule takes names that differ in case only for one name: HTTP does so too, and which of the
// two is sent would be chance.
var headerRule = textsRule{
	remedy: `Write {"Authorization": "Bearer ${TOKEN}"}.`,
	same:   http.CanonicalHeaderKey,
	name: func(name string) fault {
		if !headerName.MatchString(name) {
			return fault{"not a name that a header can have", `Write {"Authorization": "Bearer ${TOKEN}"}.`}
		}
		return fault{}
	},
	value: func(value string) fault {
		if strings.ContainsFunc(value, isControl) {
			return fault{"has a line break or another control character in it",
				"Remove it; a variable that was filled from a file often ends in a line break."}
		}
		return fault{}
	},
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
