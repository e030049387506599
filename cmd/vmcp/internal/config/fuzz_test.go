package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

// The planted secrets: neither can be the name of a variable.
const (
	secretInFile     = "pl4nted-in-file"
	secretInVariable = "pl4nted-in-variable"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(bytes.ReplaceAll(data, []byte("planted"), []byte(secretInFile)))
	}
	for _, seed := range []string{
		``, `{`, `[]`, `// comment`, `{"mcpServers": {}}`, "\ufeff{}", "\xff\xfe{", `{"servers": {}}`, `{"command": "x"}`,
		oneServer(`"command": "SECRET", "args": ["SECRET", "${SET}", "$${SET}", "${NO:-SECRET}"], "env": {"K": "SECRET", "L": 1}, "cwd": "~/SECRET"`),
		oneServer(`"url": "https://u:SECRET@h/SECRET?SECRET", "headers": {"A": "Bearer SECRET", "B": "${SET}\n"}, "oauth": {"K": "SECRET"}`),
		oneServer(`"comand": "SECRET", "args": "SECRET", "env": ["SECRET"], "type": "SECRET"`),
		oneServer(`"url": "SECRET", "command": "${SECRET", "disabled": "SECRET"`),
		oneServer(`"url": "${SET}", "headers": {"K: SECRET": "SECRET"}`),
		oneServer(`"command": "x", "env": {"K=": "SECRET", "L": "${input:SECRET}", "M": "${SECRET}", "N": "${NO}"}`),
		`{"mcpServers": {"my SECRET": {"disabled": true}, "b": null, "b": 1}, "inputs": "SECRET"}`,
		`{"a": "SECRET\x"}`, `{"a": SECRET}`, `/* SECRET`, strings.Repeat("[", 200),
	} {
		f.Add([]byte(strings.ReplaceAll(seed, "SECRET", secretInFile)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("servers.json", data, func(name string) (string, bool) {
			return secretInVariable, strings.HasPrefix(name, "SET") || name == "HOME"
		})
		shown := strings.Join(c.Notes, "\n")
		if err != nil {
			assert.Empty(t, c.Servers)
			for _, p := range problemsOf(t, err) {
				checkPlace(t, p, data)
				shown += "\n" + p.Error()
			}
		} else {
			checkServers(t, c.Servers)
		}
		if !bytes.Contains(data, []byte(secretInVariable)) && !keysContain(data, secretInVariable) {
			assert.NotContains(t, shown, secretInVariable)
		}
		if !keysContain(data, secretInFile) {
			assert.NotContains(t, shown, secretInFile)
		}
	})
}

func checkPlace(t *testing.T, p *Error, data []byte) {
	t.Helper()
	assert.NotContains(t, p.Error(), "\n")
	assert.NotEmpty(t, p.Remedy)
	if p.Line == 0 {
		return // no text file at all
	}
	lines := bytes.Split(data, []byte("\n"))
	require.GreaterOrEqual(t, p.Line, 1)
	require.LessOrEqual(t, p.Line, len(lines))
	assert.GreaterOrEqual(t, p.Column, 1)
	assert.LessOrEqual(t, p.Column, len(lines[p.Line-1])+1)
}

// checkServers is what the rest of the program relies on.
func checkServers(t *testing.T, servers []Server) {
	t.Helper()
	assert.NotEmpty(t, servers)
	names := map[string]bool{}
	for _, s := range servers {
		assert.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`, s.Name)
		assert.False(t, names[s.Name], "%s is there twice", s.Name)
		names[s.Name] = true
		switch s.Type {
		case "stdio":
			assert.NotEmpty(t, s.Command)
			assert.Empty(t, s.URL)
			assert.Empty(t, s.Headers)
		case "http", "sse":
			assert.Regexp(t, `(?i)^https?://`, s.URL)
			assert.Empty(t, s.Command)
			assert.Empty(t, s.Args)
			assert.Empty(t, s.Env)
			assert.Empty(t, s.Dir)
		default:
			assert.Fail(t, "no transport", s.Type)
		}
	}
}

// keysContain says whether text is part of a key, where it may be shown.
func keysContain(data []byte, text string) bool {
	data = append(bytes.TrimPrefix(data, []byte("\ufeff")), '\n')
	if len(data) > maxSize || tooDeep(data) >= 0 {
		return false
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return false
	}
	for v := range root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		for _, m := range object.Members {
			if strings.Contains(m.Name.Value.(hujson.Literal).String(), text) {
				return true
			}
		}
	}
	return false
}
