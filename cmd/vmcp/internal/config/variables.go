package config

import (
	"regexp"
	"strings"
)

// maxReplaced is how many bytes all strings of a file may have together once their variables are
// replaced: a short file can name a long variable very often.
const maxReplaced = 8 << 20

// fault is what is wrong with a value; the zero fault is none.
type fault struct{ problem, remedy string }

// variables replaces the variables in the strings of one file.
type variables struct {
	lookupEnv func(string) (string, bool)
	left      int      // of maxReplaced
	found     []string // the values that stand in the file now, in its order
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// editorVariables are replaced by editors, which know them from what is open. Value: what to write.
var editorVariables = map[string]string{
	"workspaceFolder":         "the path of the folder",
	"workspaceRoot":           "the path of the folder",
	"workspaceFolderBasename": "the name of the folder",
	"userHome":                `"${HOME}"`,
	"cwd":                     "the path of the directory",
}

// replace returns every fault it finds, and then no text that is of use.
func (v *variables) replace(raw string) (string, []fault) {
	var out strings.Builder
	var faults []fault
	for v.left >= out.Len() {
		start := strings.Index(raw, "${")
		if start < 0 {
			out.WriteString(raw)
			v.left -= out.Len()
			return out.String(), faults
		}
		if start > 0 && raw[start-1] == '$' {
			out.WriteString(raw[:start-1] + "${")
			raw = raw[start+2:]
			continue
		}
		out.WriteString(raw[:start])
		length := strings.IndexByte(raw[start:], '}')
		if length < 0 {
			return "", append(faults, fault{`has a "${" without a "}"`, `Close it, or write "$${" for a "${" that stays as it is.`})
		}
		text, f := v.variable(raw[start+2 : start+length])
		if f.problem != "" {
			faults = append(faults, f)
		}
		out.WriteString(text)
		raw = raw[start+length+1:]
	}
	v.left = -1 // What comes next fails at once.
	return "", append(faults, fault{"is too long, with its variables replaced", "Use fewer or shorter variables."})
}

// variable is what to put in the place of ${inside}. Only what is a name for sure is ever quoted.
func (v *variables) variable(inside string) (string, fault) {
	if strings.HasPrefix(inside, "input:") {
		return "", fault{`has a "${input:...}", for which an editor would ask`, `Write "${NAME}" and set the variable (export NAME=...).`}
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(inside, "env:"), ":-")
	switch {
	case !variableName.MatchString(name):
		return "", fault{`has a "${" that is not followed by the name of a variable`,
			`Write "${NAME}" or "${NAME:-default}", and "$${" for a "${" that stays as it is.`}
	case strings.Contains(fallback, "${"):
		return "", fault{"has a variable in the default of the variable " + name, "Write a default without variables."}
	}
	if text, ok := v.lookupEnv(name); ok {
		v.found = append(v.found, text)
		return text, fault{}
	}
	if hasFallback {
		return fallback, fault{}
	}
	return "", unset(name)
}

func unset(name string) fault {
	if instead, ok := editorVariables[name]; ok {
		return fault{"only an editor knows the variable " + name, "Write " + instead + " instead."}
	}
	return fault{"the variable " + name + " is not set", "Set it (export " + name + `=...), or give a default ("${` + name + `:-...}").`}
}
