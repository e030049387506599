package vmcp

import (
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
)

// A ToolSelection says which tools of a backend a session has, and under which
// names. The zero value has them all, as the server names them. What it takes
// out is what its author wants: the report does not count it as left out.
type ToolSelection struct {
	// Include and Exclude are patterns of [path.Match] for the server's own
	// names, such as "list_*". A tool is there if it matches one of Include,
	// or that is empty, and none of Exclude.
	Include, Exclude []string
	// Rename gives tools, by the server's own name, another name, before a
	// prefix is put in front of it.
	Rename map[string]string
}

// Validate says which pattern is malformed, a [path.ErrBadPattern], or which
// new name cannot be one.
func (t ToolSelection) Validate() error {
	for _, pattern := range slices.Concat(t.Include, t.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("the pattern %q cannot be used: %w; use one such as list_*, with a backslash before a bracket that is meant", pattern, path.ErrBadPattern)
		}
	}
	return t.validNames()
}

func (t ToolSelection) validNames() error {
	from := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.Rename)) {
		to := t.Rename[name]
		if !validName(to) {
			return fmt.Errorf("the tool %q cannot be renamed to %q; use letters, digits, _, - and ., at most %d", name, to, longestName)
		}
		if other, taken := from[to]; taken {
			return fmt.Errorf("the tools %q and %q are both renamed to %q; give each its own name", other, name, to)
		}
		from[to] = name
	}
	return nil
}

// has says whether the tool with the server's name is there.
func (t ToolSelection) has(name string) bool {
	matches := func(pattern string) bool { return matched(pattern, name) }
	return (len(t.Include) == 0 || slices.ContainsFunc(t.Include, matches)) && !slices.ContainsFunc(t.Exclude, matches)
}

func matched(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// named returns the tool's name before any prefix.
func (t ToolSelection) named(name string) string {
	if to, ok := t.Rename[name]; ok {
		return to
	}
	return name
}

// withoutMatch returns the patterns, and the names to change, that none of the
// tools has.
func (t ToolSelection) withoutMatch(tools []mcp.Tool) []string {
	var missed []string
	for _, pattern := range slices.Concat(t.Include, t.Exclude) {
		if !slices.ContainsFunc(tools, func(tool mcp.Tool) bool { return matched(pattern, tool.Name) }) {
			missed = append(missed, pattern)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Rename)) {
		if !slices.ContainsFunc(tools, func(tool mcp.Tool) bool { return tool.Name == name }) {
			missed = append(missed, name)
		}
	}
	return missed
}

// warnOfPatterns tells once of each that the tools, which have just been listed,
// do not match.
func (m *member) warnOfPatterns() {
	for _, pattern := range m.newlyMissed() {
		m.log.LogAttrs(m.life, slog.LevelWarn, "no tool of the server has a name that is selected or changed",
			slog.String(events.KeyEvent, events.PatternWithoutMatch), slog.String(events.KeyPattern, pattern),
			slog.String(events.KeyRemedy, "compare it with the names that the server lists, or remove it"))
	}
}

func (m *member) newlyMissed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.staleSince.IsZero() { // they have not
		return nil
	}
	missed := slices.DeleteFunc(m.Tools.withoutMatch(m.offer.Tools), func(pattern string) bool { return m.lacking[pattern] })
	for _, pattern := range missed {
		m.lacking[pattern] = true
	}
	return missed
}
