package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-candor/candor/internal/plain"
	"github.com/tailscale/hujson"
)

// entry is a value of the file: under which key, and on which path of keys, it stands.
type entry struct {
	name  string // the last key of path, as it is in the file
	path  string // for people: see printableKey
	at    int    // offset of the key, or of the value where there is no key
	value hujson.Value
}

func (e entry) kind() hujson.Kind { return e.value.Value.Kind() }

// blank is true of null and of what is empty: programs write such values for keys they do not use.
func (e entry) blank() bool {
	switch v := e.value.Value.(type) {
	case *hujson.Object:
		return len(v.Members) == 0
	case *hujson.Array:
		return len(v.Elements) == 0
	}
	return e.kind() == 'n' || e.kind() == '"' && e.text() == ""
}

// text is the string as it is in the file, without its escapes.
func (e entry) text() string {
	literal, _ := e.value.Value.(hujson.Literal)
	return literal.String()
}

// reader collects what is wrong in a file and what is worth a note, instead of stopping at
// the first.
type reader struct {
	document  *document
	variables variables
	problems  []*Error
	notes     []note
	ignored   map[string]*ignoredKey
}

type note struct {
	at   int
	text string
}

// ignoredKey is a key without effect, and the servers that have it.
type ignoredKey struct {
	first   entry
	servers []string
}

func newReader(d *document, lookupEnv func(string) (string, bool)) *reader {
	return &reader{
		document:  d,
		variables: variables{lookupEnv: lookupEnv, left: maxReplaced},
		ignored:   map[string]*ignoredKey{},
	}
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return joinInOrder(r.problems)
}

func (r *reader) problem(e entry, problem, remedy string) {
	p := r.document.problem(e.at, problem, remedy)
	p.Key = e.path
	r.problems = append(r.problems, p)
}

func (r *reader) wrongKind(e entry, want, remedy string) {
	r.problem(e, "must be "+want+", not "+kindNames[e.kind()], remedy)
}

var kindNames = map[hujson.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number",
	't': "a boolean", 'f': "a boolean", 'n': "null",
}

func (r *reader) line(e entry) int {
	line, _ := r.document.position(e.at)
	return line
}

// note says something about e in one line.
func (r *reader) note(e entry, text string) {
	prefix := fmt.Sprintf("%s:%d: ", printableFile(r.document.file), r.line(e))
	r.notes = append(r.notes, note{at: e.at, text: prefix + text})
}

func (r *reader) ignore(server, key entry) {
	if seen, ok := r.ignored[key.name]; ok {
		seen.servers = append(seen.servers, printableKey(server.name))
		return
	}
	r.ignored[key.name] = &ignoredKey{first: key, servers: []string{printableKey(server.name)}}
}

// allNotes is for the end: only then it is known which servers have an ignored key.
func (r *reader) allNotes() []string {
	for name, key := range r.ignored {
		text := key.first.path + " has no effect in vmcp"
		if len(key.servers) > 1 {
			text = printableKey(name) + " has no effect in vmcp (servers: " + strings.Join(key.servers, ", ") + ")"
		}
		if instead := withoutEffect[name]; instead != "" {
			text += ": " + instead
		}
		r.note(key.first, text)
	}
	slices.SortStableFunc(r.notes, func(a, b note) int { return cmp.Compare(a.at, b.at) })
	var texts []string
	for _, n := range r.notes {
		texts = append(texts, n.text)
	}
	return texts
}

// members are the members of an object; remedy is for what is none.
func (r *reader) members(e entry, remedy string) ([]entry, bool) {
	return r.distinctMembers(e, remedy, func(name string) string { return name })
}

// distinctMembers takes keys with the same result of same for one key. A key that is there twice is
// a problem, since programs disagree about which of the two counts; here the first is returned.
func (r *reader) distinctMembers(e entry, remedy string, same func(string) string) ([]entry, bool) {
	object, ok := e.value.Value.(*hujson.Object)
	if !ok {
		r.wrongKind(e, "an object", remedy)
		return nil, false
	}
	seen := make(map[string]entry, len(object.Members))
	var members []entry
	for _, m := range object.Members {
		member := e.member(m)
		if first, ok := seen[same(member.name)]; ok {
			r.problem(member, fmt.Sprintf("the same key as in line %d", r.line(first)), "Keep one of the two.")
			continue
		}
		seen[same(member.name)] = member
		members = append(members, member)
	}
	return members, true
}

func (e entry) member(m hujson.ObjectMember) entry {
	member := entry{at: m.Name.StartOffset, value: m.Value}
	member.name = entry{value: m.Name}.text()
	member.path = printableKey(member.name)
	if e.path != "" {
		member.path = e.path + "." + member.path
	}
	return member
}

// element is the i-th of an array.
func (e entry) element(i int, v hujson.Value) entry {
	return entry{path: fmt.Sprintf("%s[%d]", e.path, i), at: v.StartOffset, value: v}
}

// list are the strings of an array; remedy is for what is none.
func (r *reader) list(e entry, remedy string) []string {
	array, ok := e.value.Value.(*hujson.Array)
	if !ok {
		r.wrongKind(e, "an array of strings", remedy)
		return nil
	}
	texts := make([]string, len(array.Elements))
	for i, v := range array.Elements {
		texts[i], _ = r.text(e.element(i, v))
	}
	return texts
}

// texts are the strings of an object.
func (r *reader) texts(e entry, rule textsRule) map[string]string {
	members, _ := r.distinctMembers(e, rule.remedy, rule.same)
	texts := make(map[string]string, len(members))
	for _, m := range members {
		if f := rule.name(m.name); f.problem != "" {
			// What stands there may be a secret that went astray: the line has to do.
			r.problem(entry{path: e.path, at: m.at}, f.problem, f.remedy)
			continue
		}
		text, ok := r.text(m)
		if f := rule.value(text); ok && f.problem != "" {
			r.problem(m, f.problem, f.remedy)
		}
		texts[m.name] = text
	}
	return texts
}

// text is the string that e holds, with its variables replaced.
func (r *reader) text(e entry) (string, bool) {
	switch e.kind() {
	case '"':
	case '0', 't', 'f':
		r.wrongKind(e, "a string", "Put it in quotes.")
		return "", false
	default:
		r.wrongKind(e, "a string", "Write a string in quotes, or remove it.")
		return "", false
	}
	raw := e.text()
	r.noteUnreplaced(e, raw)
	text, faults := r.variables.replace(raw)
	if strings.ContainsRune(text, 0) {
		faults = append(faults, fault{"has a NUL character in it", "Remove it."})
	}
	for _, f := range faults {
		r.problem(e, f.problem, f.remedy)
	}
	return text, len(faults) == 0
}

// bareVariable is what Gemini CLI and shells replace at the end of a value, such as "Bearer $TOKEN".
var bareVariable = regexp.MustCompile(`(^|\s)\$[A-Z_][A-Z0-9_]*$`)

func (r *reader) noteUnreplaced(e entry, raw string) {
	if bareVariable.MatchString(raw) {
		r.note(e, e.path+` has a "$NAME" without braces, which is passed on as it is: write "${NAME}" for the variable`)
	}
	if raw == "~" || strings.HasPrefix(raw, "~/") {
		r.note(e, e.path+` starts with "~", which is passed on as it is: write "${HOME}" for the home directory`)
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)

// printableKey quotes and shortens a key that would make a path hard to read, or break a line.
func printableKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	beginning, left := plain.Cut(key, 64)
	if left > 0 {
		return strconv.Quote(beginning + "…")
	}
	return strconv.Quote(key)
}
