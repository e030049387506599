package config

import (
	"fmt"
	"regexp"

	"github.com/mcp-candor/candor/vmcp"
)

var toolsKey = about{name: "tools", kind: "object, or the array of its include", standard: "every tool, under its own name",
	example: `{"include": ["get_*"], "exclude": ["*_secret"], "rename": {"get_file_contents": "read"}}`,
	effect:  "Which tools of the server are offered, and under which names.",
	least:   1,
	below:   abouts(toolsTable),
	schema:  schema{"anyOf": []any{schema{"type": "null"}, objectSchema(abouts(toolsTable)), includeKey.schema}}}

// includeKey is also what an array stands for.
var includeKey = words(about{name: "include", kind: "array of patterns", least: 1, standard: "all", example: `["get_*", "search"]`,
	effect: "Only tools whose name, as the server has it, fits one of the patterns are offered. An empty list is refused."},
	"", glob, func(t *vmcp.ToolSelection) *[]string { return &t.Include })

var toolsTable = []key[vmcp.ToolSelection]{
	includeKey,
	words(about{name: "exclude", kind: "array of patterns", standard: "none", example: `["delete_*"]`,
		effect: "Tools whose name, as the server has it, fits one of the patterns are not offered, even if they are included."},
		"", glob, func(t *vmcp.ToolSelection) *[]string { return &t.Exclude }),
	{about{name: "rename", kind: "object of names", standard: "none", example: `{"get_file_contents": "read"}`,
		effect: "From a tool's name, as the server has it, to the one that it is offered under, still behind the prefix. No two tools can have one name.",
		schema: schema{"type": []string{"object", "null"}, "propertyNames": schema{"minLength": 1}, "additionalProperties": schema{"type": "string", "pattern": toolPattern}}}, (*reader).rename},
}

// tools also reads the array that GitHub Copilot CLI writes.
func (r *reader) tools(e entry, s *Server) {
	if e.kind() == '[' {
		includeKey.read(r, e, &s.Tools)
		return
	}
	readObject(r, e, toolsTable, &s.Tools)
}

// toolPattern is what the protocol lets a tool's name be.
const toolPattern = `^[A-Za-z0-9_.-]{1,128}$`

var toolName = regexp.MustCompile(toolPattern)

func (r *reader) rename(e entry, t *vmcp.ToolSelection) {
	members, _ := r.members(e, `Write {"the server's name": "another"}.`)
	t.Rename = make(map[string]string, len(members))
	lines := map[string]int{}
	for _, m := range members {
		to, ok := r.word(m, goodTool)
		line, twice := lines[to]
		switch {
		case m.name == "":
			r.problem(m, "a tool without a name", `Write {"the server's name": "another"}.`)
		case ok && twice:
			r.problem(m, fmt.Sprintf("the same new name as in line %d", line), "Give each tool its own.")
		case ok:
			lines[to], t.Rename[m.name] = r.line(m), to
		}
	}
}

func goodTool(name string) fault {
	if !toolName.MatchString(name) {
		return fault{"not a name that a tool can have", `Use letters, digits, "_", "-" and ".", 128 at most.`}
	}
	return fault{}
}
