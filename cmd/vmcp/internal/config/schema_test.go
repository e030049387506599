package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

// TestSchema compares docs/vmcp.schema.json with the tables of keys. UPDATE=1 writes it anew.
func TestSchema(t *testing.T) {
	t.Parallel()
	const file = "../../../../docs/vmcp.schema.json"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, Schema(), 0o644))
	}
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(Schema()), string(written), "the schema has drifted: UPDATE=1 go test -run TestSchema ./cmd/vmcp/internal/config")
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("vmcp.schema.json", document))
	s, err := compiler.Compile("vmcp.schema.json")
	require.NoError(t, err)
	return s
}

// validate asks the schema about a file as an editor does, for whom comments are no part of it.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	standard, err := hujson.Standardize([]byte(text))
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(standard))
	require.NoError(t, err)
	return s.Validate(document)
}

// goodExamples are the files of these tests that Parse accepts.
func goodExamples(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"every key": everyKey()}
	for name, test := range goodServers {
		all["server: "+name] = oneServer(test.fields)
	}
	for name, test := range goodSettings {
		all["settings: "+name] = oneServer(`"url": "http://h", ` + test.fields)
	}
	for name, test := range goodGateways {
		all["gateway: "+name] = withGateway(test.gateway)
	}
	for name, test := range notedFiles {
		all["notes: "+name] = test.text
	}
	for _, name := range sortedKeys(withoutEffect) {
		all["without effect: "+name] = oneServer(`"command": "x", "` + name + `": {"a": 1}`)
	}
	for _, name := range append(sortedKeys(otherPrograms), sortedKeys(switches)...) {
		all["other program: "+name] = `{"` + name + `": {}, "mcpServers": {"a": {"command": "x"}}}`
	}
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.Contains(file, "vscode") {
			all[file] = string(text)
		}
	}
	return all
}

func TestTheSchemaAcceptsWhatParseAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for name, text := range goodExamples(t) {
		_, err := parseTest(text)
		require.NoError(t, err, name)
		assert.NoError(t, validate(t, s, text), name)
	}
}

// unseen are examples in which something is wrong that no schema can see: what variables hold, what
// stands twice, how two values of a file relate, what is no JSON.
var unseen = newSet(
	"file: an empty file", "file: white space only", "file: a comment only", "file: a file that ends too early", "file: a missing comma",
	"file: a backslash in a string", "file: a string over two lines", "file: a slash that starts no comment",
	"file: a comment that is not closed", "file: a second value", "file: Latin-1", "file: UTF-16", "file: more than 1 MiB", "file: too deep",
	"file: every server disabled", "file: only comments among the servers", "file: mcpServers twice", "file: a server twice",
	"server: a key twice", "server: two names of a key that disagree", "server: a command that is replaced by none", "server: a NUL",
	"server: a variable twice", "server: a header in two cases", "server: a header with a line break", "server: a url with a port too high",
	"server: a url with a port of letters", "server: a url with an unset variable", "server: a variable that is not set",
	"server: a variable that an editor knows", "server: a home that an editor knows", "server: a prompt", "server: a brace that is not closed",
	"server: a brace without a name", "server: a brace with another shell's tricks", "server: a default with a variable",
	"settings: a key twice within", "settings: a duration beyond numbers", "settings: a duration of nothing", "settings: a duration that is too long",
	"settings: a pattern that does not end", "settings: a pattern that does not end later",
	"settings: a new name for two tools", "settings: two new names for a tool", "settings: retries that get shorter",
	"settings: retries beyond the default", "settings: a header of a connection", "settings: a header of the protocol",
	"settings: a header twice", "settings: a header that is set as well",
	"gateway: no deadline", "gateway: TLS with an unset variable", "gateway: a limit beyond numbers",
)

func TestTheSchemaRefusesWhatParseRefuses(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	all := map[string]string{}
	for name, test := range badFiles {
		all["file: "+name] = test.text
	}
	for name, test := range badServers {
		all["server: "+name] = oneServer(test.fields)
	}
	for name, test := range badSettings {
		all["settings: "+name] = oneServer(`"url": "http://h", ` + test.fields)
	}
	for name, test := range badGateways {
		all["gateway: "+name] = withGateway(test.gateway)
	}
	for name := range unseen {
		assert.Contains(t, all, name)
	}
	for name, text := range all {
		if !unseen[name] {
			assert.Error(t, validate(t, s, text), name)
		}
	}
}
