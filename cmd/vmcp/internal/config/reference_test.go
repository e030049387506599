package config

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConfigurationPage compares the tables in docs/configuration.md with those of the reader.
// UPDATE=1 writes them anew.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	const file = "../../../../docs/configuration.md"
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	page := string(written)
	for name, keys := range map[string][]about{
		"server": transportKeys, "settings": abouts(settingsTable), "gateway": abouts(gatewayTable),
	} {
		begin, end := "<!-- keys: "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(page, begin)
		require.True(t, ok, begin)
		_, after, ok := strings.Cut(rest, end)
		require.True(t, ok, end)
		page = before + begin + reference(keys) + end + after
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
		return
	}
	assert.Equal(t, page, string(written), "the page has drifted: UPDATE=1 go test -run TestConfigurationPage ./cmd/vmcp/internal/config")
}

// reference is a Markdown table of the keys, those below a key after it.
func reference(keys []about) string {
	var b strings.Builder
	b.WriteString("\n| key | what stands there | default | effect | example |\n|---|---|---|---|---|\n")
	rows(&b, "", keys)
	return b.String() + "\n"
}

func rows(b *strings.Builder, path string, keys []about) {
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace
	for _, k := range keys {
		also := ""
		if len(k.others) > 0 {
			also = " Other names: `" + strings.Join(k.others, "`, `") + "`."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s%s | `%s` |\n", path+k.name, cell(k.kind), cell(k.standard), cell(k.effect), also, k.example)
		rows(b, path+k.name+".", k.below)
	}
}

// The page's longer examples are files that work.
func TestTheExamplesOfTheConfigurationPageWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/configuration.md")
	require.NoError(t, err)
	blocks := strings.Split(string(page), "```jsonc\n")[1:]
	require.NotEmpty(t, blocks)
	s := compiled(t)
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		_, err := Parse("servers.json", []byte(text), func(string) (string, bool) { return "set", true })
		require.NoError(t, err, text)
		require.NoError(t, validate(t, s, text), text)
	}
}

func TestEveryKeyIsToldOf(t *testing.T) {
	t.Parallel()
	var check func(path string, keys []about)
	check = func(path string, keys []about) {
		for _, k := range keys {
			assert.NotEmpty(t, k.kind, path+k.name)
			assert.NotEmpty(t, k.standard, path+k.name)
			assert.Regexp(t, `^[A-Z"].*\.$`, k.effect, path+k.name)
			assert.NotEmpty(t, k.schema, path+k.name)
			assert.True(t, json.Valid([]byte(k.example)), path+k.name)
			check(path+k.name+".", k.below)
		}
	}
	check("", allServerKeys)
	check("gateway.", abouts(gatewayTable))
}
