//go:build real

package vmcp_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/internal/npm"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serverEverything is the program of @modelcontextprotocol/server-everything.
var serverEverything string

func init() {
	prepare = func() {
		dir := npm.MustInstall("the suite of what real servers ask and tell", "vmcp", "@modelcontextprotocol/server-everything@2026.8.31")
		serverEverything = filepath.Join(dir, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	}
}

// everythingOverHTTP runs the server until the test ends.
func everythingOverHTTP(t *testing.T) connect.Target {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	address := listener.Addr().(*net.TCPAddr)
	server := exec.Command("node", serverEverything, "streamableHttp")
	server.Env = append(os.Environ(), "PORT="+strconv.Itoa(address.Port))
	server.Stdout, server.Stderr = io.Discard, io.Discard
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address.String())
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	return connect.HTTP{URL: fmt.Sprintf("http://%s/mcp", address)}
}

// TestRealEverythingAsksAndTells goes through all that a server may turn to its
// caller with.
func TestRealEverythingAsksAndTells(t *testing.T) {
	targets := map[string]func(*testing.T) connect.Target{
		"over stdio": func(*testing.T) connect.Target {
			return connect.Stdio{Command: "node", Args: []string{serverEverything, "stdio"}}
		},
		"over HTTP": everythingOverHTTP,
	}
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			s := build(t, &vmcp.Builder{Asks: anything}, vmcp.Backend{ID: "e", Connector: connect.To(target(t))})
			all, ann := notices(s), &person{name: "ann"}
			call := func(tool string, arguments map[string]any) string {
				result, err := s.CallTool(ann.calling(t), withProgress("e_"+tool, "ann's", arguments))
				require.NoError(t, err)
				require.NotEmpty(t, result.Content)
				text := ""
				for _, content := range result.Content {
					if part, ok := mcp.AsTextContent(content); ok {
						text += part.Text + "\n"
					}
				}
				return text
			}

			assert.Contains(t, call("trigger-sampling-request", map[string]any{"prompt": "hello"}), "sampled by ann")
			assert.Contains(t, call("trigger-elicitation-request", nil), "ann")
			assert.Contains(t, call("get-roots-list", nil), "file:///home/ann")

			call("trigger-long-running-operation", map[string]any{"duration": 0.4, "steps": 4})
			tokens, steps := ann.progress()
			assert.Equal(t, []any{"ann's", "ann's", "ann's", "ann's"}, tokens)
			assert.Equal(t, []any{1.0, 2.0, 3.0, 4.0}, steps)

			require.True(t, s.HasLogging())
			require.NoError(t, s.SetLevel(t.Context(), mcp.LoggingLevelInfo))
			require.True(t, s.HasSubscriptions())
			uri := "demo://resource/dynamic/text/1"
			require.NoError(t, s.Subscribe(t.Context(), uri))
			hear(t, all, "notifications/message")
			call("toggle-subscriber-updates", nil)
			assert.Equal(t, uri, hear(t, all, mcp.MethodNotificationResourceUpdated).Params.AdditionalFields["uri"])
			require.NoError(t, s.Unsubscribe(t.Context(), uri))

			before := len(s.Resources())
			call("gzip-file-as-resource", map[string]any{"name": "new.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"})
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				assert.Len(c, s.Resources(), before+1, "its list of resources changed unasked")
			}, 30*time.Second, 20*time.Millisecond)
		})
	}
}

func TestRealEverythingIsNotToldOfWhatNobodyAnswers(t *testing.T) {
	s := build(t, &vmcp.Builder{}, vmcp.Backend{ID: "e", Connector: connect.To(connect.Stdio{Command: "node", Args: []string{serverEverything, "stdio"}})})
	for _, name := range []string{"e_trigger-sampling-request", "e_trigger-elicitation-request", "e_get-roots-list"} {
		assert.NotContains(t, toolNames(s), name, "it offers them to clients that can answer only")
	}
}
