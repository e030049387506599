package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidateSaysWhatAGoodFileWouldServe(t *testing.T) {
	t.Setenv("VMCP_TEST_TOKEN", "planted")
	file := write(t, "servers.json", `{"theme": "dark", "mcpServers": {
		"files": {"command": "npx", "args": ["-y", "planted"], "env": {"K": "planted"}, "trust": true, "required": true, "tools": {"include": ["read_*"]},
			"prefix": "f", "timeouts": {"call": "1s"}, "tolerance": {"prompts": false}, "protocolVersion": "2025-11-25", "retry": {"max": "5m"}, "breaker": {"failures": 2}},
		"web": {"url": "https://u:planted@example.com/mcp?k=planted", "headers": {"A": "${VMCP_TEST_TOKEN}"}, "forwardHeaders": ["X-A"]},
		"plain": {"url": "http://127.0.0.1:1/sse"}},
		"gateway": {"names": "none", "tls": {"cert": "/planted.crt", "key": "/planted.key"}, "statusTool": false}}`)
	for _, args := range [][]string{{"validate", file}, {"validate", "--config", file}} {
		got := vmcpWith(t, args...)
		assert.Equal(t, statusOK, got.status, got.err)
		assert.Equal(t, file+`: good, 3 servers

SERVER  TYPE   TARGET                   SETTINGS
files   stdio  npx                      required, prefix, timeouts, tools, tolerance, protocolVersion, retry, breaker
web     http   https://example.com/mcp  forwardHeaders
plain   sse    http://127.0.0.1:1/sse   -

gateway: https, names by none, soft deadline 5s, idle after 30m0s, draining for 5s, status tool off, watching the file on
limits: 256 sessions, 1024 calls, a request's body of 16 MiB and headers of 64 KiB, an answer of 64 MiB

note: `+file+`:1: theme has no effect in vmcp
note: `+file+`:2: mcpServers.files.trust has no effect in vmcp
`, got.out)
		assert.Empty(t, got.err)
	}
}

func TestValidateSaysEverythingThatIsWrong(t *testing.T) {
	file := write(t, "servers.json", `{"mcpServers": {
		"a": {"command": "x", "args": ["${VMCP_TEST_UNSET}", "planted"]},
		"b": {"url": "planted", "timeouts": {"call": "planted"}}},
		"gateway": {"softDeadline": 5}}`)
	got := vmcpWith(t, "validate", file)
	assert.Equal(t, statusUsage, got.status)
	assert.Equal(t, file+`:2: mcpServers.a.args[0]: the variable VMCP_TEST_UNSET is not set. Set it (export VMCP_TEST_UNSET=...), or give a default ("${VMCP_TEST_UNSET:-...}").
`+file+`:3: mcpServers.b.url: not an absolute http or https URL. Write it like "https://example.com/mcp".
`+file+`:3: mcpServers.b.timeouts.call: not a duration above zero. Write a number with its unit, ms, s, m or h, such as "30s" or "1m30s".
`+file+`:4: gateway.softDeadline: must be a duration in quotes, not a number. Write a number with its unit, ms, s, m or h, such as "30s" or "1m30s".

`+file+`: 4 problems
`, got.out)
	assert.Empty(t, got.err)
}

func TestValidateConnectsToNothing(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "started")
	file := write(t, "servers.json", `{"mcpServers": {"a": {"command": "touch", "args": ["`+trace+`"]}}}`)
	assert.Equal(t, statusOK, vmcpWith(t, "validate", file).status)
	_, err := os.Stat(trace)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestValidateOfAFileThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no.json")
	got := vmcpWith(t, "validate", file)
	assert.Equal(t, statusUsage, got.status)
	assert.Contains(t, got.out, file+": no such file. ")
	assert.Contains(t, got.out, "1 problem\n")
}

func TestValidatePrintsTheSchema(t *testing.T) {
	got := vmcpWith(t, "validate", "--schema")
	require.Equal(t, statusOK, got.status)
	written, err := os.ReadFile("../../docs/vmcp.schema.json")
	require.NoError(t, err)
	assert.Equal(t, string(written), got.out)
	assert.True(t, json.Valid([]byte(got.out)))
}

func TestValidateWantsOneFile(t *testing.T) {
	for _, args := range [][]string{{}, {""}, {"a", "b"}, {"a", "--config", "a"}, {"--config", "a", "--schema"}} {
		got := vmcpWith(t, append([]string{"validate"}, args...)...)
		assert.Equal(t, statusUsage, got.status, args)
		assert.NotEmpty(t, got.err, args)
	}
}

func TestValidateOnAFullDiskFails(t *testing.T) {
	good := write(t, "good.json", `{"mcpServers": {"a": {"command": "x"}}}`)
	for _, args := range [][]string{{good}, {"--schema"}, {write(t, "bad.json", "")}} {
		assert.Equal(t, statusFailure, run(t.Context(), append([]string{"validate"}, args...), streams{nil, full{}, io.Discard}), args)
	}
}
