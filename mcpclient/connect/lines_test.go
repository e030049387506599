package connect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/require"
)

// A program may log to its standard output, in JSON too, and number its records
// as a client numbers its requests.
func TestALogLineOnStandardOutputAnswersNothing(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a record":                       `{"level":30,"msg":"x"}`,
		"a record with an id":            `{"level":30,"id":$ID,"msg":"x"}`,
		"an id and nothing else":         `{"id":$ID}`,
		"an error in words":              `{"level":50,"id":$ID,"error":"disk full"}`,
		"an error that is an object":     `{"level":50,"id":$ID,"error":{"message":"disk full"}}`,
		"a request that it was asked":    `{"level":30,"id":$ID,"method":"GET","url":"/"}`,
		"an array":                       `[$ID]`,
		"an array of records":            `[{"id":$ID,"msg":"x"}]`,
		"a number":                       `$ID`,
		"a text":                         `"$ID"`,
		"null":                           `null`,
		"words":                          `listening on $ID`,
		"JSON-RPC in words":              `{"level":30,"id":$ID,"msg":"\"jsonrpc\""}`,
		"a record longer than a log has": `{"id":$ID,"msg":"` + strings.Repeat("x", 1<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var noise []string
			for id := range 12 { // whichever the request has
				noise = append(noise, strings.ReplaceAll(line, "$ID", fmt.Sprint(id)))
			}
			refusal := badserver.Fail(-32055, "quota")
			refusal.Noise = strings.Join(noise, "\n")
			done := badserver.Result(mcp.NewToolResultText("done"))
			done.Noise = refusal.Noise
			script := with(with(honest(legacy), "ping", refusal), "tools/call", done)
			c, err := connect.Open(soon(t), newLeash(t).stdio(t, "server", script))
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			require.EqualError(t, c.Ping(soon(t)), "quota", "not what was logged before it")
			result, err := c.CallTool(soon(t), callOf("search"))
			require.NoError(t, err)
			require.Len(t, result.Content, 1)
		})
	}
}
