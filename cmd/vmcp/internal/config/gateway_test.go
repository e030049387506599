package config

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withGateway is a file with one server, and "gateway" on line 2.
func withGateway(gateway string) string {
	return "{\"mcpServers\": {\"a\": {\"url\": \"http://h\"}},\n\"gateway\": " + gateway + "}"
}

var goodGateways = map[string]struct {
	gateway string
	want    func(*Gateway)
}{
	"null":                       {`null`, func(*Gateway) {}},
	"nothing":                    {`{}`, func(*Gateway) {}},
	"empty and null keys":        {`{"names": "", "softDeadline": null, "limits": {"calls": null}, "tls": {}, "watch": null}`, func(*Gateway) {}},
	"comments":                   {`{"_": 1, "//": 1, "limits": {"#": 1}}`, func(*Gateway) {}},
	"the names of the first":     {`{"names": "priority"}`, func(g *Gateway) { g.Names = vmcp.Priority }},
	"plain names":                {`{"names": "none"}`, func(g *Gateway) { g.Names = vmcp.Plain }},
	"a soft deadline":            {`{"softDeadline": "2s"}`, func(g *Gateway) { g.SoftDeadline = 2 * time.Second }},
	"an idle time-out":           {`{"idleTimeout": "1h"}`, func(g *Gateway) { g.Idle = time.Hour }},
	"a drain time-out":           {`{"drainTimeout": "1m"}`, func(g *Gateway) { g.DrainTimeout = time.Minute }},
	"no tool for the status":     {`{"statusTool": false}`, func(g *Gateway) { g.NoStatusTool = true }},
	"no watch":                   {`{"watch": false}`, func(g *Gateway) { g.Watch = false }},
	"one limit, not the others":  {`{"limits": {"sessions": 1}}`, func(g *Gateway) { g.Sessions = 1 }},
	"every limit":                {`{"limits": {"sessions": 1, "calls": 2, "bodyBytes": 1024, "headerBytes": 1025, "responseBytes": 1026}}`, func(g *Gateway) { g.Sessions, g.Calls, g.Body, g.Header, g.Answer = 1, 2, 1024, 1025, 1026 }},
	"TLS":                        {`{"tls": {"cert": "a.crt", "key": "a.key"}}`, func(g *Gateway) { g.TLS = TLS{"a.crt", "a.key"} }},
	"TLS with variables in it":   {`{"tls": {"cert": "${HOME}/a.crt", "key": "$${HOME}"}}`, func(g *Gateway) { g.TLS = TLS{"/home/ada/a.crt", "${HOME}"} }},
	"what holds without the key": {defaultsOf(abouts(gatewayTable)), func(*Gateway) {}},
}

// defaultsOf is an object of what the documentation gives as defaults.
func defaultsOf(keys []about) string {
	var members []string
	for _, k := range keys {
		value, _, _ := strings.Cut(k.standard, " ")
		switch {
		case k.name == "tls":
			continue
		case len(k.below) > 0:
			value = defaultsOf(k.below)
		case k.kind == "duration":
			value = `"` + value + `"`
		}
		members = append(members, `"`+k.name+`": `+value)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func TestParseReadsTheGateway(t *testing.T) {
	t.Parallel()
	for name, test := range goodGateways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(withGateway(test.gateway))
			require.NoError(t, err)
			want := DefaultGateway()
			test.want(&want)
			assert.Equal(t, want, c.Gateway)
			assert.Empty(t, c.Notes)
		})
	}
}

func TestAFileWithoutGatewayHasTheDefaultOne(t *testing.T) {
	t.Parallel()
	c, err := parseTest(oneServer(`"command": "x"`))
	require.NoError(t, err)
	assert.Equal(t, DefaultGateway(), c.Gateway)
}

var badGateways = map[string]struct{ gateway, want string }{
	"a string":                   {`"fast"`, `gateway: must be an object, not a string. Write {"names": ...}.`},
	"an unknown key":             {`{"colour": 1}`, `gateway.colour: unknown key. Remove it: there is names, softDeadline, idleTimeout, drainTimeout, statusTool, limits, tls and watch only.`},
	"a slip":                     {`{"softDeadlin": "1s"}`, `gateway.softDeadlin: unknown key. Did you mean "softDeadline"?`},
	"other names":                {`{"names": "Prefix"}`, `gateway.names: not one of the values that there are. Write "prefix", "priority" or "none".`},
	"a deadline without unit":    {`{"softDeadline": 5}`, `gateway.softDeadline: must be a duration in quotes, not a number. ` + durationRemedy},
	"no deadline":                {`{"softDeadline": "0s"}`, `gateway.softDeadline: a duration out of bounds. Write one from "1ms" to "24h".`},
	"watch in quotes":            {`{"watch": "yes"}`, `gateway.watch: must be true or false, not a string. Write true or false, without quotes.`},
	"one limit for all":          {`{"limits": 5}`, `gateway.limits: must be an object, not a number. Write {"sessions": ...}.`},
	"a limit that lets none in":  {`{"limits": {"sessions": 0}}`, `gateway.limits.sessions: not a whole number within bounds. Write one from 1 to 100000, without quotes.`},
	"a limit below zero":         {`{"limits": {"calls": -1}}`, `gateway.limits.calls: not a whole number within bounds. Write one from 1 to 100000, without quotes.`},
	"a limit beyond numbers":     {`{"limits": {"calls": 1e999}}`, `gateway.limits.calls: not a whole number within bounds. Write one from 1 to 100000, without quotes.`},
	"a limit with a unit":        {`{"limits": {"bodyBytes": "1MiB"}}`, `gateway.limits.bodyBytes: must be a whole number, not a string. Write one from 1024 to 1073741824, without quotes.`},
	"a limit too low to work":    {`{"limits": {"headerBytes": 10}}`, `gateway.limits.headerBytes: not a whole number within bounds. Write one from 1024 to 16777216, without quotes.`},
	"TLS without a key":          {`{"tls": {"cert": "a.crt"}}`, `gateway.tls: there is no "key". Name both files: {"cert": "tls.crt", "key": "tls.key"}.`},
	"TLS without a certificate":  {`{"tls": {"key": "a.key"}}`, `gateway.tls: there is no "cert". Name both files: {"cert": "tls.crt", "key": "tls.key"}.`},
	"TLS with an unset variable": {`{"tls": {"cert": "${NO}", "key": "k"}}`, `gateway.tls.cert: the variable NO is not set. Set it (export NO=...), or give a default ("${NO:-...}").`},
	"TLS in a word":              {`{"tls": true}`, `gateway.tls: must be an object, not a boolean. Write {"cert": ...}.`},
	"a certificate as a number":  {`{"tls": {"cert": 1, "key": "k"}}`, `gateway.tls.cert: must be a string, not a number. Put it in quotes.`},
}

func TestParseSaysWhatIsWrongWithTheGateway(t *testing.T) {
	t.Parallel()
	for name, test := range badGateways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseTest(withGateway(test.gateway))
			assert.Equal(t, []string{"servers.json:2: " + test.want}, textsOf(t, err))
			assert.Equal(t, Config{}, c)
		})
	}
}

func TestAGatewayIsCheckedEvenWithoutServers(t *testing.T) {
	t.Parallel()
	_, err := parseTest("{\n\"gateway\": {\"names\": 1}}")
	assert.Equal(t, []string{
		`servers.json:1:1: there is no "mcpServers". Write your servers into it, ` + exampleRemedy,
		`servers.json:2: gateway.names: not one of the values that there are. Write "prefix", "priority" or "none".`,
	}, textsOf(t, err))

	_, err = parseTest(`{"gatway": {}, "mcpServers": {"a": {"command": "x"}}}`)
	assert.Equal(t, []string{`servers.json:1: gatway: unknown key. Did you mean "gateway"?`}, textsOf(t, err))
}
