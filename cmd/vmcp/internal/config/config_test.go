package config

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testVariables are what is set in these tests.
var testVariables = map[string]string{
	"HOME":             "/home/ada",
	"TOKEN":            "t0ken",
	"API_KEY":          "key",
	"EMPTY":            "",
	"LINE":             "t0ken\n",
	"NESTED":           "${TOKEN}",
	"HOST":             "example.com",
	"PGPASSWORD":       "pg-planted",
	"LINEAR_SECRET":    "planted",
	"EXTERNAL_API_KEY": "key-planted",
	"API_TOKEN":        "api-planted",
	"SENTRY_TOKEN":     "sentry-planted",
}

func lookupTest(name string) (string, bool) {
	value, ok := testVariables[name]
	return value, ok
}

func parseTest(text string) (Config, error) {
	return Parse("servers.json", []byte(text), lookupTest)
}

// oneServer is a file with one server, fields being its members, on line 1.
func oneServer(fields string) string {
	return `{"mcpServers": {"a": {` + fields + `}}}`
}

// problemsOf are the errors of one file, taken apart.
func problemsOf(t *testing.T, err error) []*Error {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%T joins no errors", err)
	var problems []*Error
	for _, e := range joined.Unwrap() {
		problem, ok := e.(*Error)
		require.True(t, ok, "%T is no *Error", e)
		problems = append(problems, problem)
	}
	return problems
}

func textsOf(t *testing.T, err error) []string {
	t.Helper()
	var texts []string
	for _, p := range problemsOf(t, err) {
		texts = append(texts, p.Error())
	}
	return texts
}

// server is one without settings.
func server(id string, target connect.Target) Server {
	return Server{Backend: vmcp.Backend{ID: id}, Target: target}
}

var goodServers = map[string]struct {
	fields string
	want   connect.Target
}{
	"a command is stdio": {
		`"command": "npx"`,
		connect.Stdio{Command: "npx"},
	},
	"everything that a command can have": {
		`"type": "stdio", "command": "npx", "args": ["-y", "p"], "env": {"K": "v"}, "cwd": "/srv"`,
		connect.Stdio{Command: "npx", Args: []string{"-y", "p"}, Env: map[string]string{"K": "v"}, Dir: "/srv"},
	},
	"everything that a url can have": {
		`"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "v"}`,
		connect.HTTP{URL: "https://example.com/mcp", Headers: map[string]string{"X-Key": "v"}},
	},
	"a url is http":                            {`"url": "https://example.com/mcp"`, connect.HTTP{URL: "https://example.com/mcp"}},
	"a url whose path ends in /sse is sse":     {`"url": "https://example.com/a/sse?k=v"`, connect.SSE{URL: "https://example.com/a/sse?k=v"}},
	"a url whose path ends in /sse/ is sse":    {`"url": "https://example.com/sse/"`, connect.SSE{URL: "https://example.com/sse/"}},
	"a url with sse elsewhere is http":         {`"url": "https://example.com/ssee?x=/sse"`, connect.HTTP{URL: "https://example.com/ssee?x=/sse"}},
	"a type is stronger than the path":         {`"type": "http", "url": "https://example.com/sse"`, connect.HTTP{URL: "https://example.com/sse"}},
	"httpUrl is http whatever its path":        {`"httpUrl": "https://example.com/sse"`, connect.HTTP{URL: "https://example.com/sse"}},
	"serverUrl is a url":                       {`"serverUrl": "https://example.com/sse"`, connect.SSE{URL: "https://example.com/sse"}},
	"baseUrl is a url":                         {`"baseUrl": "https://example.com"`, connect.HTTP{URL: "https://example.com"}},
	"two names of the url that agree":          {`"url": "https://e.com/m", "serverUrl": "https://e.com/m"`, connect.HTTP{URL: "https://e.com/m"}},
	"a url may have a user and a port":         {`"url": "http://u:p@localhost:8080/mcp"`, connect.HTTP{URL: "http://u:p@localhost:8080/mcp"}},
	"streamable-http is http":                  {`"type": "streamable-http", "url": "http://h"`, connect.HTTP{URL: "http://h"}},
	"streamableHttp is http":                   {`"type": "streamableHttp", "url": "http://h"`, connect.HTTP{URL: "http://h"}},
	"streamable_http is http":                  {`"type": "streamable_http", "url": "http://h"`, connect.HTTP{URL: "http://h"}},
	"transport is another name of type":        {`"transport": "sse", "url": "http://h"`, connect.SSE{URL: "http://h"}},
	"transportType is another name of type":    {`"transportType": "sse", "url": "http://h"`, connect.SSE{URL: "http://h"}},
	"working_directory is another name of cwd": {`"command": "x", "working_directory": "/d"`, connect.Stdio{Command: "x", Dir: "/d"}},
	"workingDirectory is another name of cwd":  {`"command": "x", "workingDirectory": "/d"`, connect.Stdio{Command: "x", Dir: "/d"}},
	"empty and null keys count as absent":      {`"command": "x", "url": "", "headers": {}, "cwd": null, "args": [], "env": null`, connect.Stdio{Command: "x"}},
	"enabled and active servers are servers":   {`"command": "x", "enabled": true, "isActive": true, "disabled": false`, connect.Stdio{Command: "x"}},
	"keys that are comments are left aside":    {`"command": "x", "_args": 1, "//": "", "$comment": "c", "comment": "c"`, connect.Stdio{Command: "x"}},
	"keys may be written with escapes":         {`"comm\u0061nd": "x"`, connect.Stdio{Command: "x"}},
	"comments and commas at the end are fine":  {"/* c */ \"command\": \"x\", // d\n", connect.Stdio{Command: "x"}},
	"~ stays": {`"command": "~/bin/x"`, connect.Stdio{Command: "~/bin/x"}},
	"a header may hold a tab and other letters": {`"url": "http://h", "headers": {"X": "a\tü"}`, connect.HTTP{URL: "http://h", Headers: map[string]string{"X": "a\tü"}}},
}

func TestParseReadsServers(t *testing.T) {
	t.Parallel()
	for name, test := range goodServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(oneServer(test.fields))
			require.NoError(t, err)
			assert.Equal(t, []Server{server("a", test.want)}, c.Servers)
		})
	}
}

func TestParseReplacesVariables(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
		secrets  []string
	}{
		"a variable":                              {"${TOKEN}", "t0ken", []string{"t0ken"}},
		"a variable with env:":                    {"${env:TOKEN}", "t0ken", []string{"t0ken"}},
		"variables within text":                   {"a${TOKEN}b${HOST}c", "at0kenbexample.comc", []string{"t0ken", "example.com"}},
		"the default of a variable that is unset": {"${NO:-d e}", "d e", nil},
		"the empty default":                       {"${NO:-}", "", nil},
		"a default with env:":                     {"${env:NO:-d}", "d", nil},
		"no default for a variable that is set":   {"${TOKEN:-d}", "t0ken", []string{"t0ken"}},
		"no default for an empty variable":        {"${EMPTY:-d}", "", nil},
		"an empty variable":                       {"${EMPTY}", "", nil},
		"a default may have colons and dollars":   {"${NO:-a:-$b}", "a:-$b", nil},
		"a dollar before it takes the meaning":    {"$${TOKEN}", "${TOKEN}", nil},
		"two dollars before it: one is left":      {"$$${TOKEN}", "$${TOKEN}", nil},
		"a dollar without a brace stays":          {"$TOKEN $$ $", "$TOKEN $$ $", nil},
		"a value is not looked at again":          {"${NESTED}", "${TOKEN}", []string{"${TOKEN}"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdio, err := parseTest(oneServer(fmt.Sprintf(
				`"command": "x%[1]s", "args": ["%[1]s"], "env": {"K": "%[1]s"}, "cwd": "/%[1]s"`, test.in)))
			require.NoError(t, err)
			assert.Equal(t, []Server{server("a", connect.Stdio{Command: "x" + test.want, Args: []string{test.want},
				Env: map[string]string{"K": test.want}, Dir: "/" + test.want, Secrets: test.secrets})}, stdio.Servers)

			remote, err := parseTest(oneServer(fmt.Sprintf(`"url": "http://h/#%[1]s", "headers": {"K": "%[1]s"}`, test.in)))
			require.NoError(t, err)
			assert.Equal(t, []Server{server("a", connect.HTTP{URL: "http://h/#" + test.want, Headers: map[string]string{"K": test.want}})}, remote.Servers)
		})
	}
}

func TestParseChecksTheURLAfterReplacing(t *testing.T) {
	t.Parallel()
	c, err := parseTest(oneServer(`"url": "${NO:-https://example.com}/sse"`))
	require.NoError(t, err)
	assert.Equal(t, []Server{server("a", connect.SSE{URL: "https://example.com/sse"})}, c.Servers)

	_, err = parseTest(oneServer(`"url": "${TOKEN}"`))
	assert.EqualError(t, err, `servers.json:1: mcpServers.a.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`)
}

const exampleRemedy = `for example {"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}.`

var badFiles = map[string]struct {
	text string
	want []string
}{
	"an empty file": {"", []string{
		"servers.json:1:1: the file is empty. Write your servers into it, " + exampleRemedy}},
	"white space only": {" \n\n", []string{
		"servers.json:1:1: the file is empty. Write your servers into it, " + exampleRemedy}},
	"a comment only": {"// nothing", []string{
		"servers.json:1:11: not valid JSON: the file ends too early. Close every quote, brace and bracket."}},
	"a file that ends too early": {"{\n\"mcpServers\": {\n\n", []string{
		"servers.json:2:16: not valid JSON: the file ends too early. Close every quote, brace and bracket."}},
	"a missing comma": {"{\"mcpServers\": {\n\"a\": {}\n  \"b\": {}}}", []string{
		"servers.json:3:3: not valid JSON. Look for a comma, a quote or a brace that is missing here or on the line before."}},
	"a backslash in a string": {`{"a": "C:\Users"}`, []string{
		`servers.json:1:7: not a valid JSON string. Close its quote on the same line, and write a backslash as "\\".`}},
	"a string over two lines": {"{\"a\": \"b\n\"}", []string{
		`servers.json:1:7: not a valid JSON string. Close its quote on the same line, and write a backslash as "\\".`}},
	"a slash that starts no comment": {"{\"a\": [/]}", []string{
		"servers.json:1:8: not valid JSON. Look for a comma, a quote or a brace that is missing here or on the line before."}},
	"a comment that is not closed": {"{\n/* ", []string{
		"servers.json:2:1: not valid JSON: the file ends too early. Close every quote, brace and bracket."}},
	"a second value": {"{}\n{}", []string{
		"servers.json:2:1: not valid JSON. Look for a comma, a quote or a brace that is missing here or on the line before."}},
	"Latin-1": {"{\n\"a\": \"\xfc\"}", []string{
		"servers.json:2:7: not UTF-8. Save the file as UTF-8."}},
	"UTF-16": {"\xff\xfe{\x00}\x00", []string{
		"servers.json: UTF-16. Save the file as UTF-8."}},
	"more than 1 MiB": {strings.Repeat(" ", 1<<20+1), []string{
		"servers.json: more than 1 MiB. Is this the right file?"}},
	"too deep": {"{\"a\":\n" + strings.Repeat("[", 1<<19), []string{
		"servers.json:2:64: more than 64 objects and arrays in each other. Look for a brace or a bracket that is not closed."}},
	"an array": {"[]", []string{
		"servers.json:1:1: must be an object, not an array. Write your servers into one, " + exampleRemedy}},
	"an empty object": {"\n{}", []string{
		`servers.json:2:1: there is no "mcpServers". Write your servers into it, ` + exampleRemedy}},
	"no server": {"{\n\"mcpServers\": {}}", []string{
		"servers.json:2: mcpServers: there is no server in it. Add one, " + exampleRemedy}},
	"only comments among the servers": {"{\n\"mcpServers\": {\"_comment\": \"none yet\"}}", []string{
		"servers.json:2: mcpServers: there is no server in it. Add one, " + exampleRemedy}},
	"servers in an array": {`{"mcpServers": []}`, []string{
		"servers.json:1: mcpServers: must be an object, not an array. Write {NAME: {...}} for each server, " + exampleRemedy}},
	"every server disabled": {`{"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"enabled": false}}}`, []string{
		"servers.json:1: mcpServers: every server is disabled. Enable one, or add one, " + exampleRemedy}},
	"the servers of VS Code": {`{"inputs": [], "servers": {"a": {"command": "x"}}}`, []string{
		`servers.json:1: servers: vmcp reads "mcpServers". Rename "servers" to "mcpServers".`}},
	"the servers of Zed": {`{"context_servers": {}}`, []string{
		`servers.json:1: context_servers: vmcp reads "mcpServers". Rename "context_servers" to "mcpServers".`}},
	"servers beside mcpServers": {`{"mcpServers": {"a": {"command": "x"}}, "servers": {}}`, []string{
		`servers.json:1: servers: vmcp reads "mcpServers" only. Move what is in it to "mcpServers".`}},
	"mcpServers in another spelling": {`{"mcpservers": {}}`, []string{
		`servers.json:1: mcpservers: unknown key. Did you mean "mcpServers"?`}},
	"an unknown key": {`{"mcpServers": {"a": {"command": "x"}}, "colour": 1}`, []string{
		`servers.json:1: colour: unknown key. Remove it: vmcp reads "mcpServers" and "gateway" only.`}},
	"an unknown key and no servers": {`{"colour": 1}`, []string{
		`servers.json:1:1: there is no "mcpServers". Write your servers into it, ` + exampleRemedy,
		`servers.json:1: colour: unknown key. Remove it: vmcp reads "mcpServers" and "gateway" only.`}},
	"a slip in $schema": {`{"$shema": "", "mcpServers": {"a": {"command": "x"}}}`, []string{
		`servers.json:1: $shema: unknown key. Did you mean "$schema"?`}},
	"servers at the top": {"{\"a\": {\"command\": \"x\"},\n\"b\": {\"url\": \"http://h\"}}", []string{
		`servers.json:1: a: a server that is not in "mcpServers". Move it to {"mcpServers": {...}}.`,
		`servers.json:2: b: a server that is not in "mcpServers". Move it to {"mcpServers": {...}}.`}},
	"one server as the file": {`{"command": "x", "args": []}`, []string{
		`servers.json:1:1: a server that is not in "mcpServers". Write {"mcpServers": {"NAME": {...}}} around it.`}},
	"mcpServers twice": {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}},\n\"mcpServers\": {}}", []string{
		"servers.json:2: mcpServers: the same key as in line 1. Keep one of the two."}},
	"a server twice": {"{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\n\"\\u0061\": {\"command\": \"y\"}}}", []string{
		"servers.json:4: mcpServers.a: the same key as in line 2. Keep one of the two."}},
}

func TestParseSaysWhatIsWrongInAFile(t *testing.T) {
	t.Parallel()
	for name, test := range badFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(test.text)
			assert.Equal(t, test.want, textsOf(t, err))
			assert.Equal(t, Config{}, c)
		})
	}
}

const knownKeys = "vmcp knows command, args, env, cwd, url, headers, type, disabled, required, prefix, timeouts, tools, " +
	"tolerance, protocolVersion, retry, breaker and forwardHeaders."

var badServers = map[string]struct{ fields, want string }{
	"an unknown key":                      {`"command": "x", "colour": 1`, `.colour: unknown key. Remove it: ` + knownKeys},
	"a slip":                              {`"comand": "x", "url": "http://h"`, `.comand: unknown key. Did you mean "command"?`},
	"a key in another case":               {`"Command": "x", "url": "http://h"`, `.Command: unknown key. Did you mean "command"?`},
	"two letters in the other order":      {`"command": "x", "evn": {}`, `.evn: unknown key. Did you mean "env"?`},
	"a third of a long key":               {`"command": "x", "autoApproveList": 1`, `.autoApproveList: unknown key. Did you mean "autoApprove"?`},
	"a word for the same":                 {`"command": "x", "environment": {}`, `.environment: unknown key. Did you mean "env"?`},
	"a very short key":                    {`"command": "x", "n": 1`, `.n: unknown key. Remove it: ` + knownKeys},
	"a key that is hard to read":          {`"command": "x", "a.b\nc": 1`, `."a.b\nc": unknown key. Remove it: ` + knownKeys},
	"a key twice":                         {`"command": "x", "command": "y"`, `.command: the same key as in line 1. Keep one of the two.`},
	"two names of a key that disagree":    {`"url": "http://h", "serverUrl": "http://i"`, `.serverUrl: another name of "url" in line 1, with another value. Keep one of the two.`},
	"neither a command nor a url":         {``, `: neither a "command" nor a "url". Give it a "command" to start, such as "npx", or a "url" to connect to, such as "https://example.com/mcp".`},
	"both a command and a url":            {`"command": "x", "httpUrl": "http://h"`, `: both a "command" and a "httpUrl". Keep "command" for a program to start, or "url" for a server to connect to.`},
	"a command that is an array":          {`"command": ["x"]`, `.command: must be a string, not an array. Write a string in quotes, or remove it.`},
	"a command that is a number":          {`"command": 1`, `.command: must be a string, not a number. Put it in quotes.`},
	"a command of blanks":                 {`"command": " "`, `.command: is empty. Name the program to start, such as "npx".`},
	"a command that is replaced by none":  {`"command": "${EMPTY}"`, `.command: is empty. Name the program to start, such as "npx".`},
	"args that are a string":              {`"command": "x", "args": "-y"`, `.args: must be an array of strings, not a string. Write ["-y", "some-package"].`},
	"an argument that is a number":        {`"command": "x", "args": ["-p", 80]`, `.args[1]: must be a string, not a number. Put it in quotes.`},
	"an argument that is null":            {`"command": "x", "args": [null]`, `.args[0]: must be a string, not null. Write a string in quotes, or remove it.`},
	"env that is an array":                {`"command": "x", "env": ["K=v"]`, `.env: must be an object, not an array. Write {"NAME": "value"}.`},
	"a variable that is a number":         {`"command": "x", "env": {"PORT": 80}`, `.env.PORT: must be a string, not a number. Put it in quotes.`},
	"a variable that is a boolean":        {`"command": "x", "env": {"DEBUG": true}`, `.env.DEBUG: must be a string, not a boolean. Put it in quotes.`},
	"a variable that is null":             {`"command": "x", "env": {"K": null}`, `.env.K: must be a string, not null. Write a string in quotes, or remove it.`},
	"a variable twice":                    {`"command": "x", "env": {"K": "", "K": ""}`, `.env.K: the same key as in line 1. Keep one of the two.`},
	"a variable without a name":           {`"command": "x", "env": {"": "v"}`, `.env: the name of a variable cannot be empty or have a "=" in it. Write {"NAME": "value"}.`},
	"a variable with its value":           {`"command": "x", "env": {"K=v": ""}`, `.env: the name of a variable cannot be empty or have a "=" in it. Write {"NAME": "value"}.`},
	"a cwd that is an object":             {`"command": "x", "cwd": {"a": 1}`, `.cwd: must be a string, not an object. Write a string in quotes, or remove it.`},
	"a NUL":                               {`"command": "x\u0000"`, `.command: has a NUL character in it. Remove it.`},
	"headers for a command":               {`"command": "x", "headers": {"K": "v"}`, `.headers: only a server with a "url" has "headers". Remove it, or pass the value in "env".`},
	"args for a url":                      {`"url": "http://h", "args": ["x"]`, `.args: only a server with a "command" has "args". Remove it, or pass the value in "headers".`},
	"env for a url":                       {`"url": "http://h", "env": {"K": "v"}`, `.env: only a server with a "command" has "env". Remove it, or pass the value in "headers".`},
	"cwd for a url":                       {`"url": "http://h", "cwd": "/"`, `.cwd: only a server with a "command" has "cwd". Remove it, or pass the value in "headers".`},
	"a url without a scheme":              {`"url": "example.com/mcp"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url of another scheme":             {`"url": "ws://example.com"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url without a host":                {`"url": "http:///mcp"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url with a port only":              {`"url": "http://:80/mcp"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url with a port too high":          {`"url": "http://h:65536"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url with a port of letters":        {`"url": "http://h:port"`, `.url: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url with a blank at its end":       {`"serverUrl": "http://h/mcp "`, `.serverUrl: not an absolute http or https URL. Write it like "https://example.com/mcp".`},
	"a url that is a number":              {`"url": 1`, `.url: must be a string, not a number. Put it in quotes.`},
	"a url with an unset variable":        {`"url": "https://${NO}/"`, `.url: the variable NO is not set. Set it (export NO=...), or give a default ("${NO:-...}").`},
	"headers that are a string":           {`"url": "http://h", "headers": "K: v"`, `.headers: must be an object, not a string. Write {"Authorization": "Bearer ${TOKEN}"}.`},
	"a header that is a number":           {`"url": "http://h", "headers": {"K": 1}`, `.headers.K: must be a string, not a number. Put it in quotes.`},
	"a header with a colon":               {`"url": "http://h", "headers": {"K: v": ""}`, `.headers: not a name that a header can have. Write {"Authorization": "Bearer ${TOKEN}"}.`},
	"a header in two cases":               {`"url": "http://h", "headers": {"X-Key": "1", "x-key": "2"}`, `.headers.x-key: the same key as in line 1. Keep one of the two.`},
	"a header with a line break":          {`"url": "http://h", "headers": {"K": "${LINE}"}`, `.headers.K: has a line break or another control character in it. Remove it; a variable that was filled from a file often ends in a line break.`},
	"an unknown type":                     {`"type": "ws", "url": "http://h"`, `.type: not a transport that vmcp knows. Write "stdio", "http" (or "streamable-http", "streamableHttp", "streamable_http") or "sse".`},
	"a type that is a number":             {`"type": 1, "url": "http://h"`, `.type: not a transport that vmcp knows. Write "stdio", "http" (or "streamable-http", "streamableHttp", "streamable_http") or "sse".`},
	"a transport that is an object":       {`"transport": {"type": "http", "url": "http://h"}`, `.transport: must be a string, not an object. Move what is in it one level up.`},
	"http with a command":                 {`"type": "http", "command": "x"`, `.type: says "http", but there is a "command". Write "stdio", or a "url" instead of the "command".`},
	"stdio with a url":                    {`"type": "stdio", "url": "http://h"`, `.type: says "stdio", but there is no "command". Write "http" or "sse", or a "command" instead of the "url".`},
	"disabled in quotes":                  {`"command": "x", "disabled": "true"`, `.disabled: must be true or false, not a string. Write true or false, without quotes.`},
	"enabled as a number":                 {`"command": "x", "enabled": 0`, `.enabled: must be true or false, not a number. Write true or false, without quotes.`},
	"a variable that is not set":          {`"command": "x", "env": {"K": "${NO}"}`, `.env.K: the variable NO is not set. Set it (export NO=...), or give a default ("${NO:-...}").`},
	"a variable that an editor knows":     {`"command": "x", "cwd": "${workspaceFolder}/d"`, `.cwd: only an editor knows the variable workspaceFolder. Write the path of the folder instead.`},
	"a home that an editor knows":         {`"command": "${userHome}/x"`, `.command: only an editor knows the variable userHome. Write "${HOME}" instead.`},
	"a prompt":                            {`"command": "x", "args": ["${input:key}"]`, `.args[0]: has a "${input:...}", for which an editor would ask. Write "${NAME}" and set the variable (export NAME=...).`},
	"a brace that is not closed":          {`"command": "${TOKEN"`, `.command: has a "${" without a "}". Close it, or write "$${" for a "${" that stays as it is.`},
	"a brace without a name":              {`"command": "${}"`, `.command: has a "${" that is not followed by the name of a variable. Write "${NAME}" or "${NAME:-default}", and "$${" for a "${" that stays as it is.`},
	"a brace with another shell's tricks": {`"command": "${TOKEN:=x}"`, `.command: has a "${" that is not followed by the name of a variable. Write "${NAME}" or "${NAME:-default}", and "$${" for a "${" that stays as it is.`},
	"a default with a variable":           {`"command": "${NO:-${TOKEN}}"`, `.command: has a variable in the default of the variable NO. Write a default without variables.`},
}

func TestParseSaysWhatIsWrongInAServer(t *testing.T) {
	t.Parallel()
	for name, test := range badServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(oneServer(test.fields))
			assert.Equal(t, []string{"servers.json:1: mcpServers.a" + test.want}, textsOf(t, err))
			assert.Equal(t, Config{}, c)
		})
	}
}

func TestParseSaysWhichNamesAreGood(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "A", "0", "my-server_2", strings.Repeat("x", 32)} {
		c, err := parseTest(`{"mcpServers": {"` + name + `": {"command": "x"}}}`)
		require.NoError(t, err)
		assert.Equal(t, name, c.Servers[0].ID)
	}
	tests := map[string]struct{ name, path, remedy string }{
		"a blank":                {"my server", `"my server"`, `Rename it, for example to "my-server".`},
		"a path":                 {"github.com/a/b", `"github.com/a/b"`, `Rename it, for example to "github-com-a-b".`},
		"a scope":                {"@scope/x", `"@scope/x"`, `Rename it, for example to "scope-x".`},
		"an underscore at first": {"_x", "_x", `Rename it, for example to "x".`},
		"too long":               {strings.Repeat("x", 33), strings.Repeat("x", 33), `Rename it, for example to "` + strings.Repeat("x", 32) + `".`},
		"nothing to keep":        {"日本", `"日本"`, `Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`},
		"empty":                  {"", `""`, `Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`},
		"very long":              {strings.Repeat("ü", 99), `"` + strings.Repeat("ü", 64) + `…"`, `Use letters, digits, "_" and "-", 32 at most, the first a letter or a digit.`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseTest(`{"mcpServers": {"` + test.name + `": {"command": "x"}}}`)
			assert.Equal(t, []string{"servers.json:1: mcpServers." + test.path +
				": not a name that can be the prefix of a tool's name. " + test.remedy}, textsOf(t, err))
		})
	}
}

func TestParseAllowsNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	c, err := parseTest(`{"mcpServers": {"b": {"command": "x"}, "B": {"command": "y"}, "a": {"command": "z"}}}`)
	require.NoError(t, err)
	assert.Equal(t, []Server{
		server("b", connect.Stdio{Command: "x"}),
		server("B", connect.Stdio{Command: "y"}),
		server("a", connect.Stdio{Command: "z"}),
	}, c.Servers, "in the order of the file")
}

func TestParseReportsEverythingInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := parseTest(`{
  "mcpServers": {
    "my server": {
      "args": [1, "${NO}${ALSO}"],
      "command": "x",
      "headers": {"A": "b"},
      "colour": "red"
    },
    "b": null,
    "c": {}
  },
  "colour": 1
}`)
	var places []string
	for _, p := range problemsOf(t, err) {
		places = append(places, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Key))
		assert.Equal(t, "servers.json", p.File)
		assert.NotEmpty(t, p.Problem)
		assert.NotEmpty(t, p.Remedy)
	}
	assert.Equal(t, []string{
		`3:5 mcpServers."my server"`,
		`4:16 mcpServers."my server".args[0]`,
		`4:19 mcpServers."my server".args[1]`,
		`4:19 mcpServers."my server".args[1]`,
		`6:7 mcpServers."my server".headers`,
		`7:7 mcpServers."my server".colour`,
		`9:5 mcpServers.b`,
		`10:5 mcpServers.c`,
		`12:3 colour`,
	}, places)
}

func TestParseCountsLines(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"with line feeds":         "{\n\n\"x\": 1}",
		"with carriage returns":   "{\r\n\r\n\"x\": 1}",
		"after a byte order mark": "\ufeff{\n\n\"x\": 1}",
		"after comments":          "{ // {[\"\n/* \" */\n\"x\": 1}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseTest(text)
			problems := problemsOf(t, err)
			require.Len(t, problems, 2)
			assert.Equal(t, 1, problems[0].Line)
			assert.Equal(t, 1, problems[0].Column)
			assert.Equal(t, "x", problems[1].Key)
			assert.Equal(t, 3, problems[1].Line)
			assert.Equal(t, 1, problems[1].Column)
		})
	}
}

func TestParseStopsReplacingAtALimit(t *testing.T) {
	t.Parallel()
	lookup := func(string) (string, bool) { return strings.Repeat("x", 1<<17), true }
	args := strings.Repeat(`"${X}",`, 100)
	_, err := Parse("servers.json", []byte(oneServer(`"command": "x", "args": [`+args+`]`)), lookup)
	problems := problemsOf(t, err)
	assert.Equal(t, "servers.json:1: mcpServers.a.args[63]: is too long, with its variables replaced. Use fewer or shorter variables.", problems[0].Error())

	one := oneServer(`"command": "` + strings.Repeat("${X}", 1<<17) + `"`)
	_, err = Parse("servers.json", []byte(one), lookup)
	require.Len(t, problemsOf(t, err), 1)
}

var notedFiles = map[string]struct {
	text string
	want []string
}{
	"nothing to say": {`{"$schema": "s", "_": 0, "mcpServers": {"a": {"command": "x"}, "//": ""}}`, nil},
	"a key without effect": {oneServer(`"command": "x", "autoApprove": []`), []string{
		"servers.json:1: mcpServers.a.autoApprove has no effect in vmcp"}},
	"several servers with such a key": {`{"mcpServers": {
"a": {"command": "x",
  "trust": true},
"b": {"command": "x", "trust": false, "timeout": 1}, "c": {"command": "x", "trust": 1}}}`, []string{
		"servers.json:3: trust has no effect in vmcp (servers: a, b, c)",
		"servers.json:4: mcpServers.b.timeout has no effect in vmcp: " + setTimeouts}},
	"a key that would matter": {oneServer(`"command": "x", "envFile": ".env"`), []string{
		`servers.json:1: mcpServers.a.envFile has no effect in vmcp: put its variables into "env"`}},
	"several servers with a key that would matter": {`{"mcpServers": {"a": {"url": "http://h", "oauth": {}}, "b": {"url": "http://h", "oauth": {}}}}`, []string{
		`servers.json:1: oauth has no effect in vmcp (servers: a, b): vmcp cannot sign in; put a token into "headers", for example {"Authorization": "Bearer ${TOKEN}"}`}},
	"a disabled server, whatever is in it": {`{"mcpServers": {"a": {"command": "x"},
"my b": {"disabled": true, "colour": "${NO}", "trust": 1}}}`, []string{
		`servers.json:2: mcpServers."my b" is disabled and left out`}},
	"a server that is not enabled": {`{"mcpServers": {"a": {"command": "x"}, "b": {"enabled": false}, "c": {"isActive": false, "disabled": false}}}`, []string{
		"servers.json:1: mcpServers.b is disabled and left out",
		"servers.json:1: mcpServers.c is disabled and left out"}},
	"a key of another program": {`{"globalShortcut": "", "mcpServers": {"a": {"command": "x"}}}`, []string{
		"servers.json:1: globalShortcut has no effect in vmcp"}},
	"keys of another program": {`{"globalShortcut": "", "mcpServers": {"a": {"command": "x"}}, "preferences": {}}`, []string{
		"servers.json:1: globalShortcut, preferences have no effect in vmcp"}},
	"a dollar without braces": {oneServer(`"url": "http://h", "headers": {"A": "Bearer $TOKEN", "B": "pa$word", "C": "$lower"}`), []string{
		`servers.json:1: mcpServers.a.headers.A has a "$NAME" without braces, which is passed on as it is: write "${NAME}" for the variable`}},
	"a home directory": {oneServer(`"command": "~/x", "args": ["~", "~ada"]`), []string{
		`servers.json:1: mcpServers.a.command starts with "~", which is passed on as it is: write "${HOME}" for the home directory`,
		`servers.json:1: mcpServers.a.args[0] starts with "~", which is passed on as it is: write "${HOME}" for the home directory`}},
}

func TestParseNotes(t *testing.T) {
	t.Parallel()
	for name, test := range notedFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(test.text)
			require.NoError(t, err)
			assert.Equal(t, test.want, c.Notes)
		})
	}
}

// Every key that other programs write is a note, never an error, and has no effect.
func TestParseLeavesKeysOfOtherProgramsAside(t *testing.T) {
	t.Parallel()
	for _, key := range sortedKeys(withoutEffect) {
		assert.NotContains(t, serverKeys, key)
		c, err := parseTest(oneServer(`"command": "x", "` + key + `": {"command": 1}`))
		require.NoError(t, err, key)
		assert.Equal(t, []Server{server("a", connect.Stdio{Command: "x"})}, c.Servers, key)
		require.Len(t, c.Notes, 1, key)
		assert.Contains(t, c.Notes[0], "servers.json:1: mcpServers.a."+key+" has no effect in vmcp")
	}
	for _, key := range append(sortedKeys(otherPrograms), sortedKeys(switches)...) {
		c, err := parseTest(`{"` + key + `": {}, "mcpServers": {"a": {"command": "x"}}}`)
		require.NoError(t, err, key)
		require.Len(t, c.Notes, 1, key)
		assert.Contains(t, c.Notes[0], "servers.json:1: "+key+" has no effect in vmcp")
	}
}

func TestReadReadsWhatOtherProgramsWrite(t *testing.T) {
	t.Parallel()
	tests := map[string]Config{
		"claude_desktop.json": {
			Servers: []Server{
				server("filesystem", connect.Stdio{Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"}}),
				server("github", connect.Stdio{Command: "docker",
					Args: []string{"run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"},
					Env:  map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_planted"}}),
			},
			Notes: []string{":2: globalShortcut, isUsingBuiltInNodeForMcp, preferences have no effect in vmcp"},
		},
		"claude_code.json": {
			Servers: []Server{
				server("sentry", connect.HTTP{URL: "https://mcp.sentry.dev/mcp", Headers: map[string]string{"Authorization": "Bearer sentry-planted"}}),
				server("asana", connect.SSE{URL: "https://mcp.asana.com/sse"}),
			},
			Notes: []string{
				":9: mcpServers.sentry.oauth has no effect in vmcp: " + noSignIn,
				":13: mcpServers.sentry.alwaysLoad has no effect in vmcp",
				`:18: mcpServers.asana.headersHelper has no effect in vmcp: put the headers into "headers", with "${NAME}" for what is secret`,
			},
		},
		"cursor.json": {
			Servers: []Server{
				server("postgres", connect.Stdio{Command: "/home/ada/bin/postgres-mcp", Args: []string{"--dsn", "postgres://app:pg-planted@localhost/app"}, Secrets: []string{"pg-planted"}}),
				server("linear", connect.HTTP{URL: "https://mcp.linear.app/mcp"}),
			},
			Notes: []string{
				`:7: mcpServers.postgres.envFile has no effect in vmcp: put its variables into "env"`,
				":11: mcpServers.linear.auth has no effect in vmcp: " + noSignIn,
			},
		},
		"cline.json": {
			Servers: []Server{
				server("weather", connect.Stdio{Command: "node", Args: []string{"/Users/ada/Documents/Cline/MCP/weather/build/index.js"},
					Env: map[string]string{"OPENWEATHER_API_KEY": "planted"}}),
				server("search", connect.HTTP{URL: "https://search.example.com/mcp"}),
			},
			Notes: []string{
				":4: autoApprove has no effect in vmcp (servers: weather, search)",
				":8: timeout has no effect in vmcp (servers: weather, search): " + setTimeouts,
				`:18: mcpServers."github.com/upstash/context7-mcp" is disabled and left out`,
			},
		},
		"windsurf.json": {
			Servers: []Server{
				server("figma", connect.SSE{URL: "http://127.0.0.1:3845/sse"}),
				server("api", connect.HTTP{URL: "https://api.example.com/mcp", Headers: map[string]string{"API_KEY": "Bearer api-planted"}}),
			},
			Notes: []string{":5: mcpServers.figma.disabledTools has no effect in vmcp: " + chooseTools},
		},
		"gemini_cli.json": {
			Servers: []Server{
				server("pythonTools", connect.Stdio{Command: "python", Args: []string{"-m", "my_mcp_server", "--port", "8080"},
					Env: map[string]string{"DATABASE_URL": "$DB_CONNECTION_STRING", "API_KEY": "key-planted"}, Dir: "./mcp-servers/python"}),
				server("httpServer", connect.HTTP{URL: "http://localhost:3000/sse", Headers: map[string]string{"Authorization": "Bearer planted"}}),
			},
			Notes: []string{
				":2: theme, telemetry have no effect in vmcp",
				`:3: mcp has no effect in vmcp: set "disabled" to true in the servers that must not run`,
				`:14: mcpServers.pythonTools.env.DATABASE_URL has a "$NAME" without braces, which is passed on as it is: write "${NAME}" for the variable`,
				":17: timeout has no effect in vmcp (servers: pythonTools, httpServer): " + setTimeouts,
				":18: mcpServers.pythonTools.trust has no effect in vmcp",
				":25: mcpServers.httpServer.includeTools has no effect in vmcp: " + chooseTools,
				":26: mcpServers.httpServer.excludeTools has no effect in vmcp: " + chooseTools,
			},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", name)
			want.Gateway = DefaultGateway()
			for i, note := range want.Notes {
				want.Notes[i] = file + note
			}
			got, err := Read(file, lookupTest)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestReadExplainsFilesOfVSCode(t *testing.T) {
	t.Parallel()
	_, err := Read("testdata/vscode.json", lookupTest)
	assert.EqualError(t, err, `testdata/vscode.json:10: servers: vmcp reads "mcpServers". Rename "servers" to "mcpServers".`)

	_, err = Read("testdata/vscode_renamed.json", lookupTest)
	assert.Equal(t, []string{
		`testdata/vscode_renamed.json:16: mcpServers.perplexity.env.PERPLEXITY_API_KEY: has a "${input:...}", for which an editor would ask. Write "${NAME}" and set the variable (export NAME=...).`,
		`testdata/vscode_renamed.json:21: mcpServers.playwright.args[2]: only an editor knows the variable workspaceFolder. Write the path of the folder instead.`,
	}, textsOf(t, err))
}

func TestReadSaysWhyAFileCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "no.json")
	_, err := Read(missing, lookupTest)
	assert.EqualError(t, err, missing+": no such file. Check the path, or write the file, "+exampleRemedy)

	_, err = Read(dir, lookupTest)
	assert.EqualError(t, err, dir+": this is a directory. Name the file in it.")

	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, make([]byte, 2<<20), 0o600))
	_, err = Read(large, lookupTest)
	assert.EqualError(t, err, large+": more than 1 MiB. Is this the right file?")

	_, err = Read(filepath.Join(large, "below"), lookupTest)
	assert.EqualError(t, err, filepath.Join(large, "below")+": the file cannot be read. Check the path.")

	forbidden := unreadable("servers.json", &fs.PathError{Op: "open", Path: "servers.json", Err: fs.ErrPermission})
	assert.EqualError(t, forbidden, "servers.json: no permission to read the file. Make it readable for the user that runs vmcp.")
}

func TestConfigErrorIsOneLine(t *testing.T) {
	t.Parallel()
	_, err := Parse("a\nb.json", []byte(`{"c\nd": 1, "mcpServers": {"e\nf": {"command": "x"}}}`), lookupTest)
	texts := textsOf(t, err)
	require.Len(t, texts, 2)
	for _, text := range texts {
		assert.NotContains(t, text, "\n")
	}
}

// No value of a file or of a variable is ever shown, in whatever way the file is wrong.
func TestParseShowsNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter-2"
	tests := map[string]string{
		"values that are fine":          oneServer(`"command": "SECRET", "args": ["SECRET"], "env": {"K": "SECRET"}, "cwd": "SECRET", "envFile": "SECRET", "oauth": {"SECRET": "SECRET"}`),
		"values of a url that are fine": oneServer(`"url": "https://u:SECRET@h/SECRET?k=SECRET#SECRET", "headers": {"K": "SECRET"}, "headersHelper": "SECRET"`),
		"a variable that is fine":       oneServer(`"command": "x", "env": {"K": "${SET}", "L": "~/SECRET $SET"}`),
		"a disabled server":             `{"mcpServers": {"a": {"command": "x"}, "b": {"disabled": true, "env": "SECRET"}}}`,
		"bad kinds":                     oneServer(`"command": ["SECRET"], "args": "SECRET", "env": "SECRET", "cwd": {"SECRET": "SECRET"}`),
		"values at the wrong transport": oneServer(`"command": "x", "headers": {"K": "SECRET"}, "type": "SECRET"`),
		"bad url":                       oneServer(`"url": "https://u:SECRET@h:SECRET/"`),
		"bad url with a blank":          oneServer(`"url": "SECRET SECRET"`),
		"bad url from a variable":       oneServer(`"url": "${SET}"`),
		"bad header":                    oneServer(`"url": "http://h", "headers": {"K": "SECRET\n"}`),
		"bad header from a variable":    oneServer(`"url": "http://h", "headers": {"K": "${LINE}"}`),
		"a header with its value":       oneServer(`"url": "http://h", "headers": {"K: SECRET": ""}`),
		"a variable with its value":     oneServer(`"command": "x", "env": {"K=SECRET": ""}`),
		"two urls":                      oneServer(`"url": "http://SECRET", "serverUrl": "http://SECRET/SECRET"`),
		"a brace that is not closed":    oneServer(`"command": "SECRET${SECRET"`),
		"a brace around it":             oneServer(`"command": "${SECRET}"`),
		"a default":                     oneServer(`"command": "${NO:-SECRET${NO}}"`),
		"a prompt":                      oneServer(`"command": "${input:SECRET}"`),
		"an unset variable":             oneServer(`"command": "SECRET${NO}SECRET"`),
		"a NUL":                         oneServer(`"command": "SECRET\u0000"`),
		"bad settings":                  oneServer(`"url": "http://h", "required": "SECRET", "prefix": "SECRET!", "timeouts": {"call": "SECRET"}, "tools": ["SECRET["], "protocolVersion": "SECRET", "forwardHeaders": ["SECRET:"]`),
		"bad new names":                 oneServer(`"url": "http://h", "tools": {"include": "SECRET", "rename": {"a": "SECRET!", "b": "SECRET", "c": "SECRET"}}`),
		"a bad gateway":                 `{"gateway": {"names": "SECRET", "idleTimeout": "SECRET", "limits": {"calls": "SECRET"}, "tls": {"cert": "SECRET"}}}`,
		"an unknown key":                oneServer(`"comand": "SECRET"`),
		"an unknown key at the top":     `{"colour": "SECRET"}`,
		"a server that is a string":     `{"mcpServers": {"a": "SECRET"}}`,
		"no object":                     `"SECRET"`,
		"a string with a bad escape":    `{"a": "SECRET\x"}`,
		"a string that is not closed":   `{"a": "SECRET`,
		"a word without quotes":         `{"a": SECRET}`,
		"a word that is no JSON":        `SECRET`,
		"a second value":                `{} "SECRET"`,
		"a comment that is not closed":  `/* SECRET`,
		"Latin-1":                       "{\"a\": \"SECRET\xfc\"}",
	}
	lookup := func(name string) (string, bool) {
		values := map[string]string{"SET": secret, "LINE": secret + "\n"}
		value, ok := values[name]
		return value, ok
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(text, "SECRET", secret)
			c, err := Parse("servers.json", []byte(text), lookup)
			shown := strings.Join(c.Notes, "\n")
			if err != nil {
				shown = fmt.Sprintf("%v %+v", err, problemsOf(t, err))
			}
			assert.NotContains(t, shown, secret)
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"command", "args", "env", "cwd", "autoApprove"}
	tests := map[string]string{
		"comand": "command", "COMMAND": "command", "kommand": "command", "arg": "args", "evn": "env",
		"autoaprov": "autoApprove", "auto_approved": "autoApprove", "autoApproveTools": "autoApprove",
		"": "", "x": "", "xy": "", "colour": "", strings.Repeat("command", 20): "",
	}
	for _, key := range slices.Sorted(maps.Keys(tests)) {
		assert.Equal(t, tests[key], nearest(key, names), "nearest to %q", key)
	}
}

func TestTargetAtTakesAURLForWhatAFileWould(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://example.com/mcp", "http://h/a/sse?k=v", "https://example.com/sse/", "https://example.com/ssee"} {
		target, ok := TargetAt(address)
		assert.True(t, ok, address)
		c, err := parseTest(oneServer(`"url": "` + address + `"`))
		require.NoError(t, err)
		assert.Equal(t, c.Servers[0].Target, target)
	}
	for _, address := range []string{"", "example.com/mcp", "ftp://example.com", "http://h:port", "http://\x00"} {
		_, ok := TargetAt(address)
		assert.False(t, ok, address)
	}
}
