package connect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// straying answers each tools/call with the answer to another request.
func straying(protocol string, answer badserver.Answer) badserver.Script {
	answer.ID = json.RawMessage(`999999`)
	return with(honest(protocol), "tools/call", answer)
}

func TestTheAnswerToAnotherRequestIsAnErrorOverHTTP(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]badserver.Answer{
		"a result":             badserver.Result(mcp.NewToolResultText("stolen")),
		"an error":             badserver.Fail(mcp.METHOD_NOT_FOUND, "Method not found"),
		"a result as an event": {Result: json.RawMessage(`{"content":[]}`), SSE: true},
		"an error as an event": {Error: &badserver.Error{Code: -32000, Message: "no"}, SSE: true},
	} {
		for _, protocol := range []string{legacy, modern} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				t.Parallel()
				c, err := connect.Open(soon(t), connect.HTTP{URL: overHTTP(t, badserver.New(straying(protocol, answer))).URL})
				require.NoError(t, err)
				defer func() { require.NoError(t, c.Close()) }()
				_, err = c.CallTool(soon(t), callOf("search"))
				var mismatch *wire.MismatchError
				require.ErrorAs(t, err, &mismatch)
				assert.Equal(t, "999999", mismatch.Got)
				assert.Equal(t, []string{"search"}, toolsOf(t, c), "the connection lives on")
			})
		}
	}
}

// Where all answers come on one stream mcp-go waits for the right one.
func TestTheAnswerToAnotherRequestIsLeftAsideWhereAllShareAStream(t *testing.T) {
	t.Parallel()
	mine := badserver.Result(mcp.NewToolResultText("mine"))
	for _, stranger := range []string{
		`{"jsonrpc":"2.0","id":999999,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32601,"message":"Method not found"}}`,
	} {
		mine.Before = append(mine.Before, json.RawMessage(stranger))
	}
	script := with(honest(legacy), "tools/call", mine)
	for name, target := range map[string]connect.Target{
		"stdio":    newLeash(t).stdio(t, "server", script),
		"HTTP+SSE": connect.SSE{URL: overSSE(t, badserver.New(script)).URL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := connect.Open(soon(t), target)
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			result, err := c.CallTool(soon(t), callOf("search"))
			require.NoError(t, err)
			require.Len(t, result.Content, 1)
		})
	}
}

// resuming ends the stream of a tools/call before the answer, which comes when the
// client asks for the rest, and is that of another request.
func resuming(s http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent struct{ Method string }
		_ = json.Unmarshal(body, &sent)
		switch {
		case sent.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n")
		case r.Header.Get("Last-Event-ID") != "":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":999999,"result":{"content":[]}}`, "\n\n")
		default:
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(bytes.NewReader(body))
			s.ServeHTTP(w, again)
		}
	})
}

func TestTheAnswerToAnotherRequestIsAnErrorOnAStreamThatWasResumed(t *testing.T) {
	t.Parallel()
	s := badserver.New(honest(legacy))
	t.Cleanup(func() { _ = s.Close() })
	c, err := connect.Open(soon(t), connect.HTTP{URL: listen(t, resuming(s)).URL})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.CallTool(soon(t), callOf("search"))
	_, mismatched := errors.AsType[*wire.MismatchError](err)
	require.True(t, mismatched, "%v", err)
}
