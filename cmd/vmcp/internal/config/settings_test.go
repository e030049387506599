package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goodSettings are of a server at a URL.
var goodSettings = map[string]struct {
	fields string
	want   func(*Server)
}{
	"required":     {`"required": true`, func(s *Server) { s.Required = true }},
	"not required": {`"required": false`, func(*Server) {}},
	"a prefix":     {`"prefix": "gh"`, func(s *Server) { s.Prefix = "gh" }},
	"time-outs":    {`"timeouts": {"connect": "1m30s", "discovery": "500ms", "call": "1.5h"}`, func(s *Server) { s.Timeouts = Timeouts{90 * time.Second, 500 * time.Millisecond, 90 * time.Minute} }},
	"one time-out": {`"timeouts": {"call": "24h"}`, func(s *Server) { s.Timeouts = Timeouts{Call: 24 * time.Hour} }},
	"tools": {`"tools": {"include": ["get_*", "[a-c]?"], "exclude": ["get_all"], "rename": {"get one/two": "get.one-2", "b": "get_two"}}`, func(s *Server) {
		s.Tools = vmcp.ToolSelection{Include: []string{"get_*", "[a-c]?"}, Exclude: []string{"get_all"}, Rename: map[string]string{"get one/two": "get.one-2", "b": "get_two"}}
	}},
	"an array of tools is what to take": {`"tools": ["get_*", "b"]`, func(s *Server) { s.Tools = vmcp.ToolSelection{Include: []string{"get_*", "b"}} }},
	"all tools":                         {`"tools": ["*"]`, func(s *Server) { s.Tools = vmcp.ToolSelection{Include: []string{"*"}} }},
	"two tools that swap names":         {`"tools": {"rename": {"a": "b", "b": "a"}}`, func(s *Server) { s.Tools = vmcp.ToolSelection{Rename: map[string]string{"a": "b", "b": "a"}} }},
	"no tolerance": {`"tolerance": {"resources": false, "prompts": false, "utilities": false}`, func(s *Server) {
		s.Tolerance = vmcp.Tolerance{StrictResources: true, StrictPrompts: true, StrictUtilities: true}
	}},
	"tolerance as it is anyway": {`"tolerance": {"resources": true, "prompts": true, "utilities": true}`, func(*Server) {}},
	"failures that degrade":     {`"tolerance": {"failures": "degrade"}`, func(s *Server) { s.Tolerance.DegradeFailures = true }},
	"failures that fail":        {`"tolerance": {"failures": "fail"}`, func(*Server) {}},
	"a protocol":                {`"protocolVersion": "2025-11-25"`, func(s *Server) { s.ProtocolVersion = "2025-11-25" }},
	"retries":                   {`"retry": {"initial": "2s", "max": "2s"}`, func(s *Server) { s.Retry = vmcp.Retry{Initial: 2 * time.Second, Max: 2 * time.Second} }},
	"retries up to the default": {`"retry": {"initial": "60s"}`, func(s *Server) { s.Retry = vmcp.Retry{Initial: time.Minute} }},
	"a breaker":                 {`"breaker": {"failures": 1000}`, func(s *Server) { s.Breaker = vmcp.Breaker{Failures: 1000} }},
	"a number with a point":     {`"breaker": {"failures": 1e1}`, func(s *Server) { s.Breaker = vmcp.Breaker{Failures: 10} }},
	"headers to forward": {`"headers": {"X-A": "v"}, "forwardHeaders": ["x-b", "Authorization"]`, func(s *Server) {
		s.Target = connect.HTTP{URL: "http://h", Headers: map[string]string{"X-A": "v"}}
		s.ForwardHeaders = []string{"x-b", "Authorization"}
	}},
	"variables are none here":         {`"tools": ["${TOKEN}"]`, func(s *Server) { s.Tools = vmcp.ToolSelection{Include: []string{"${TOKEN}"}} }},
	"what is empty or null is absent": {`"required": null, "prefix": "", "timeouts": {}, "tools": {"include": null, "exclude": [], "rename": {}}, "tolerance": {"prompts": null}, "protocolVersion": "", "retry": {"initial": "", "max": null}, "breaker": null, "forwardHeaders": []`, func(*Server) {}},
	"comments among the settings":     {`"timeouts": {"_": 1, "//": "", "$comment": "", "call": "1s"}, "tools": {"#": 0}`, func(s *Server) { s.Timeouts = Timeouts{Call: time.Second} }},
}

func TestParseReadsSettings(t *testing.T) {
	t.Parallel()
	for name, test := range goodSettings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(oneServer(`"url": "http://h", ` + test.fields))
			require.NoError(t, err)
			want := server("a", connect.HTTP{URL: "http://h"})
			test.want(&want)
			assert.Equal(t, []Server{want}, c.Servers)
			assert.Empty(t, c.Notes)
		})
	}
}

const (
	durationRemedy = `Write a number with its unit, ms, s, m or h, such as "30s" or "1m30s".`
	patternRemedy  = `Write a name, in which "*" stands for any characters, "?" for one and "[a-z]" for one of these.`
)

// badSettings are of a server at a URL.
var badSettings = map[string]struct{ fields, want string }{
	"a slip":                            {`"requierd": true`, `.requierd: unknown key. Did you mean "required"?`},
	"a key in another case":             {`"forwardheaders": ["X"]`, `.forwardheaders: unknown key. Did you mean "forwardHeaders"?`},
	"another word":                      {`"protocol": "2025-11-25"`, `.protocol: unknown key. Did you mean "protocolVersion"?`},
	"required in quotes":                {`"required": "true"`, `.required: must be true or false, not a string. Write true or false, without quotes.`},
	"a prefix with a blank":             {`"prefix": "a b"`, `.prefix: not a prefix for a tool's name. Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`},
	"a prefix that is too long":         {`"prefix": "` + strings.Repeat("x", 33) + `"`, `.prefix: not a prefix for a tool's name. Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`},
	"a prefix that is a number":         {`"prefix": 1`, `.prefix: must be a string, not a number. Write a string in quotes, or remove it.`},
	"one time-out for all":              {`"timeouts": "30s"`, `.timeouts: must be an object, not a string. Write {"connect": ...}.`},
	"a slip within":                     {`"timeouts": {"conect": "1s"}`, `.timeouts.conect: unknown key. Did you mean "connect"?`},
	"an unknown key within":             {`"timeouts": {"colour": "1s"}`, `.timeouts.colour: unknown key. Remove it: there is connect, discovery and call only.`},
	"a key twice within":                {`"timeouts": {"call": "1s", "call": "2s"}`, `.timeouts.call: the same key as in line 1. Keep one of the two.`},
	"seconds without a unit":            {`"timeouts": {"call": 30}`, `.timeouts.call: must be a duration in quotes, not a number. ` + durationRemedy},
	"seconds without a unit, in quotes": {`"timeouts": {"call": "30"}`, `.timeouts.call: not a duration above zero. ` + durationRemedy},
	"a duration below zero":             {`"timeouts": {"call": "-1s"}`, `.timeouts.call: not a duration above zero. ` + durationRemedy},
	"a duration in words":               {`"timeouts": {"call": "1 s"}`, `.timeouts.call: not a duration above zero. ` + durationRemedy},
	"a duration beyond numbers":         {`"timeouts": {"call": "99999999999999h"}`, `.timeouts.call: not a duration above zero. ` + durationRemedy},
	"a duration of nothing":             {`"timeouts": {"call": "0s"}`, `.timeouts.call: a duration out of bounds. Write one from "1ms" to "24h".`},
	"a duration that is too long":       {`"timeouts": {"call": "24h1ms"}`, `.timeouts.call: a duration out of bounds. Write one from "1ms" to "24h".`},
	"a single tool":                     {`"tools": "*"`, `.tools: must be an object, not a string. Write {"include": ...}.`},
	"no tool":                           {`"tools": []`, `.tools: an empty list lets nothing through. Write ["*"] for all, or set "disabled" to true in the server.`},
	"no tool to include":                {`"tools": {"include": []}`, `.tools.include: an empty list lets nothing through. Write ["*"] for all, or set "disabled" to true in the server.`},
	"a tool that is a number":           {`"tools": [1]`, `.tools[0]: must be a string, not a number. Write a string in quotes, or remove it.`},
	"an empty pattern":                  {`"tools": {"exclude": ["a", ""]}`, `.tools.exclude[1]: not a pattern. ` + patternRemedy},
	"a pattern that does not end":       {`"tools": {"include": ["[a"]}`, `.tools.include[0]: not a pattern. ` + patternRemedy},
	"a pattern that does not end later": {`"tools": {"include": ["abc[a"]}`, `.tools.include[0]: not a pattern. ` + patternRemedy},
	"patterns that are a string":        {`"tools": {"exclude": "a"}`, `.tools.exclude: must be an array of strings, not a string. Write ["delete_*"].`},
	"tools by another word":             {`"tools": {"includes": ["a"]}`, `.tools.includes: unknown key. Did you mean "include"?`},
	"new names in an array":             {`"tools": {"rename": ["a"]}`, `.tools.rename: must be an object, not an array. Write {"the server's name": "another"}.`},
	"a new name that is none":           {`"tools": {"rename": {"a": "b c"}}`, `.tools.rename.a: not a name that a tool can have. Use letters, digits, "_", "-" and ".", 128 at most.`},
	"a new name that is empty":          {`"tools": {"rename": {"a": ""}}`, `.tools.rename.a: not a name that a tool can have. Use letters, digits, "_", "-" and ".", 128 at most.`},
	"a new name for two tools":          {`"tools": {"rename": {"a": "c", "b": "c"}}`, `.tools.rename.b: the same new name as in line 1. Give each tool its own.`},
	"two new names for a tool":          {`"tools": {"rename": {"a": "b", "a": "c"}}`, `.tools.rename.a: the same key as in line 1. Keep one of the two.`},
	"a tool without a name":             {`"tools": {"rename": {"": "b"}}`, `.tools.rename."": a tool without a name. Write {"the server's name": "another"}.`},
	"tolerance in a word":               {`"tolerance": true`, `.tolerance: must be an object, not a boolean. Write {"resources": ...}.`},
	"tolerance in quotes":               {`"tolerance": {"prompts": "no"}`, `.tolerance.prompts: must be true or false, not a string. Write true or false, without quotes.`},
	"tolerance for tools":               {`"tolerance": {"tools": true}`, `.tolerance.tools: unknown key. Remove it: there is resources, prompts, utilities and failures only.`},
	"failures in a boolean":             {`"tolerance": {"failures": true}`, `.tolerance.failures: not one of the values that there are. Write "fail" or "degrade".`},
	"failures in another word":          {`"tolerance": {"failures": "ignore"}`, `.tolerance.failures: not one of the values that there are. Write "fail" or "degrade".`},
	"a protocol that never was":         {`"protocolVersion": "2025-01-01"`, `.protocolVersion: not one of the values that there are. Write ` + quoted(mcp.ValidProtocolVersions, "or") + `.`},
	"a protocol that is a number":       {`"protocolVersion": 2025`, `.protocolVersion: not one of the values that there are. Write ` + quoted(mcp.ValidProtocolVersions, "or") + `.`},
	"retries that get shorter":          {`"retry": {"initial": "2s", "max": "1s"}`, `.retry: "initial" is longer than "max". Make "max" the longer one; without it, it is 1m.`},
	"retries beyond the default":        {`"retry": {"initial": "61s"}`, `.retry: "initial" is longer than "max". Make "max" the longer one; without it, it is 1m.`},
	"a breaker at once":                 {`"breaker": {"failures": 0}`, `.breaker.failures: not a whole number within bounds. Write one from 1 to 1000, without quotes.`},
	"a breaker too late":                {`"breaker": {"failures": 1001}`, `.breaker.failures: not a whole number within bounds. Write one from 1 to 1000, without quotes.`},
	"half a failure":                    {`"breaker": {"failures": 1.5}`, `.breaker.failures: not a whole number within bounds. Write one from 1 to 1000, without quotes.`},
	"failures in quotes":                {`"breaker": {"failures": "3"}`, `.breaker.failures: must be a whole number, not a string. Write one from 1 to 1000, without quotes.`},
	"one header to forward":             {`"forwardHeaders": "X-A"`, `.forwardHeaders: must be an array of strings, not a string. Write ["X-Request-Id"].`},
	"a header that is none":             {`"forwardHeaders": ["X-A: v"]`, `.forwardHeaders[0]: not a name that a header can have. Write the name of a header only, such as "X-Request-Id".`},
	"a header of a connection":          {`"forwardHeaders": ["content-length"]`, `.forwardHeaders[0]: a header that belongs to one connection and cannot travel on. Remove it.`},
	"a header of the protocol":          {`"forwardHeaders": ["mcp-session-id"]`, `.forwardHeaders[0]: a header that belongs to one connection and cannot travel on. Remove it.`},
	"a header twice":                    {`"forwardHeaders": ["X-A", "x-a"]`, `.forwardHeaders[1]: the same header as another here or in "headers". Keep one of the two.`},
	"a header that is set as well":      {`"headers": {"x-a": "v"}, "forwardHeaders": ["X-A"]`, `.forwardHeaders[0]: the same header as another here or in "headers". Keep one of the two.`},
}

func TestParseSaysWhatIsWrongWithSettings(t *testing.T) {
	t.Parallel()
	for name, test := range badSettings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(oneServer(`"url": "http://h", ` + test.fields))
			assert.Equal(t, []string{"servers.json:1: mcpServers.a" + test.want}, textsOf(t, err))
			assert.Equal(t, Config{}, c)
		})
	}
}

func TestOnlyAServerAtAURLForwardsHeaders(t *testing.T) {
	t.Parallel()
	_, err := parseTest(oneServer(`"command": "x", "forwardHeaders": ["X-A"]`))
	assert.Equal(t, []string{`servers.json:1: mcpServers.a.forwardHeaders: only a server with a "url" has "forwardHeaders". Remove it.`}, textsOf(t, err))
}

// exampleOf is an object with each of the keys, as their examples are.
func exampleOf(keys []about) string {
	var members []string
	for _, k := range keys {
		value := k.example
		if len(k.below) > 0 {
			value = exampleOf(k.below)
		}
		members = append(members, `"`+k.name+`": `+value)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// everyKey is a file with each key, the servers "local" and "remote" having what is for them.
func everyKey() string {
	but := func(names ...string) string {
		left := newSet(append(names, "disabled", "type", "prefix")...)
		var keys []about
		for _, k := range allServerKeys {
			if !left[k.name] {
				keys = append(keys, k)
			}
		}
		return exampleOf(keys)
	}
	remote := strings.TrimSuffix(but("command", "args", "env", "cwd"), "}") + `, "type": "http", "prefix": "gh"}`
	return `{"mcpServers": {"local": ` + but("url", "headers", "forwardHeaders") + `, "remote": ` + remote + `}, "gateway": ` + exampleOf(abouts(gatewayTable)) + `}`
}

// A key that is read into no field, or a field that no key is read into, is an oversight.
func TestEveryKeyHasAFieldAndEveryFieldAKey(t *testing.T) {
	t.Parallel()
	lookup := func(name string) (string, bool) { return "value of " + name, true }
	text := strings.Replace(everyKey(), `["-y", `, `["-y", "${SECRET}", `, 1)
	require.True(t, json.Valid([]byte(text)))
	c, err := Parse("servers.json", []byte(text), lookup)
	require.NoError(t, err)
	require.Empty(t, c.Notes)
	local, remote := c.Servers[0], c.Servers[1]
	for _, path := range zeros("", reflect.ValueOf(local)) {
		assert.NotContains(t, zeros("", reflect.ValueOf(remote)), path, "no key is read into it")
	}
	assert.Empty(t, zeros("", reflect.ValueOf(local.Target)))
	assert.Empty(t, zeros("", reflect.ValueOf(remote.Target)))
	assertAllChanged(t, "Gateway", reflect.ValueOf(DefaultGateway()), reflect.ValueOf(c.Gateway))
}

// ofTheCommand are fields that no file says: the command fills them in.
var ofTheCommand = newSet("Connector", "Timeout", "CallTimeout", "Stderr", "RoundTripper", "Info", "Logger", "Tokens", "MeterProvider", "TracerProvider", "Observer")

// zeros are the paths of the fields that have no value.
func zeros(path string, v reflect.Value) []string {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		if v.IsZero() {
			return []string{path}
		}
		return nil
	}
	var all []string
	for field, value := range v.Fields() {
		if !ofTheCommand[field.Name] {
			all = append(all, zeros(path+"."+field.Name, value)...)
		}
	}
	return all
}

func assertAllChanged(t *testing.T, path string, before, after reflect.Value) {
	t.Helper()
	if before.Kind() != reflect.Struct {
		assert.NotEqual(t, before.Interface(), after.Interface(), "no key is read into %s", path)
		return
	}
	for field, value := range before.Fields() {
		if !ofTheCommand[field.Name] {
			assertAllChanged(t, path+"."+field.Name, value, after.FieldByIndex(field.Index))
		}
	}
}

// Without any one of the keys, the configuration is another: none is without effect.
func TestEachKeyIsReadByItself(t *testing.T) {
	t.Parallel()
	lookup := func(string) (string, bool) { return "x", true }
	seen := map[string]string{}
	note := func(path, text string) {
		c, err := Parse("servers.json", []byte(text), lookup)
		require.NoError(t, err, path)
		read, err := json.Marshal(c)
		require.NoError(t, err)
		first, twice := seen[string(read)]
		assert.False(t, twice, "%s has the effect of %s", path, first)
		seen[string(read)] = path
	}
	note("nothing", oneServer(`"url": "http://h"`))
	leaves("", abouts(settingsTable), func(path, value string) { note(path, oneServer(`"url": "http://h", `+value)) })
	leaves("", abouts(gatewayTable), func(path, value string) {
		note("gateway"+path, `{"gateway": {`+value+`}, "mcpServers": {"a": {"url": "http://h"}}}`)
	})
}

// leaves calls f with each key that has none below it, alone in the objects around it.
func leaves(path string, keys []about, f func(path, value string)) {
	for _, k := range keys {
		switch {
		case k.name == "tls":
			f(path+"."+k.name, `"tls": `+k.example)
		case len(k.below) == 0:
			f(path+"."+k.name, `"`+k.name+`": `+k.example)
		default:
			leaves(path+"."+k.name, k.below, func(path, value string) { f(path, `"`+k.name+`": {`+value+`}`) })
		}
	}
}
