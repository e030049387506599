package config

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
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
		oneServer(`"url": "http://h", "required": "SECRET", "prefix": "SECRET SECRET", "timeouts": {"call": "SECRET"}, "tools": ["SECRET[", 1], "retry": {"initial": "2m"}`),
		oneServer(`"url": "http://h", "tools": {"include": [], "exclude": "SECRET", "rename": {"a": "SECRET SECRET", "b": "c", "d": "c"}}, "breaker": {"failures": 1e99}`),
		oneServer(`"url": "http://h", "protocolVersion": "SECRET", "tolerance": {"prompts": "SECRET"}, "forwardHeaders": ["SECRET: x", "Host", "A", "a"]`),
		`{"gateway": {"names": "SECRET", "softDeadline": "SECRET", "limits": {"calls": "SECRET"}, "tls": {"cert": "${SET}SECRET"}, "watch": 1}}`,
		everyKey(),
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
			checkGateway(t, c.Gateway)
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
		assert.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`, s.ID)
		assert.False(t, names[s.ID], "%s is there twice", s.ID)
		names[s.ID] = true
		checkSettings(t, s)
		switch target := s.Target.(type) {
		case connect.Stdio:
			assert.NotEmpty(t, target.Command)
			assert.Empty(t, s.ForwardHeaders)
		case connect.HTTP:
			assert.Regexp(t, `(?i)^https?://`, target.URL)
		case connect.SSE:
			assert.Regexp(t, `(?i)^https?://`, target.URL)
		default:
			assert.Fail(t, "no target", "%T", target)
		}
	}
}

func checkSettings(t *testing.T, s Server) {
	t.Helper()
	assert.Regexp(t, `^([A-Za-z0-9][A-Za-z0-9_-]{0,31})?$`, s.Prefix)
	for _, d := range []time.Duration{s.Timeouts.Connect, s.Timeouts.Discovery, s.Timeouts.Call, s.Retry.Initial, s.Retry.Max} {
		assert.True(t, d >= 0 && d <= longest, d)
	}
	for _, pattern := range append(s.Tools.Include, s.Tools.Exclude...) {
		_, err := path.Match(pattern, "x")
		assert.NoError(t, err)
	}
	for _, name := range s.Tools.Rename {
		assert.Regexp(t, `^[A-Za-z0-9_.-]{1,128}$`, name)
	}
}

func checkGateway(t *testing.T, g Gateway) {
	t.Helper()
	assert.Contains(t, []vmcp.Names{vmcp.Prefixed, vmcp.Priority, vmcp.Plain}, g.Names)
	for _, d := range []time.Duration{g.SoftDeadline, g.Idle, g.DrainTimeout} {
		assert.True(t, d > 0 && d <= longest, d)
	}
	for _, n := range []int64{int64(g.Sessions), int64(g.Calls), g.Body, g.Header, g.Answer} {
		assert.Positive(t, n)
	}
	assert.Equal(t, g.TLS.Cert == "", g.TLS.Key == "")
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
