package gateway_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const asked = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one_run"}}
`

// ending tells when its end was read.
type ending struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// A shell writes all it asks and closes the pipe.
func TestWhatWasAskedIsAnsweredAfterTheInputEnds(t *testing.T) {
	t.Parallel()
	in := &ending{Reader: strings.NewReader(asked), ended: make(chan struct{})}
	inner := server.NewMCPServer("inner", "1")
	inner.AddTool(mcp.NewTool("run"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-in.ended
		return mcp.NewToolResultText("done"), ctx.Err()
	})
	g := over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "one", Connector: connect.To(connect.InProcess{Server: inner})}})
	var out bytes.Buffer
	require.NoError(t, g.ServeStdio(t.Context(), in, &out))
	assert.Contains(t, out.String(), `"text":"done"`)
}
