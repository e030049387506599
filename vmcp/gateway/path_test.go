package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stacks takes down how each tools/call came to the wire.
type stacks struct {
	http.RoundTripper

	mu     sync.Mutex
	frames [][]runtime.Frame
}

func (s *stacks) RoundTrip(req *http.Request) (*http.Response, error) {
	counters := make([]uintptr, 512)
	counters = counters[:runtime.Callers(1, counters)]
	var all []runtime.Frame
	for frames := runtime.CallersFrames(counters); ; {
		frame, more := frames.Next()
		all = append(all, frame)
		if !more {
			break
		}
	}
	s.mu.Lock()
	s.frames = append(s.frames, all)
	s.mu.Unlock()
	return s.RoundTripper.RoundTrip(req)
}

// rooms are the files of this project that a stack goes through, outermost first,
// and how many of its frames are there.
func rooms(stack []runtime.Frame) (files []string, frames int) {
	const project = "/candor/"
	for _, frame := range slices.Backward(stack) {
		if !strings.Contains(frame.Function, "mcp-candor/candor/") || strings.HasSuffix(frame.File, "_test.go") {
			continue
		}
		frames++
		name := frame.Function[strings.Index(frame.Function, project)+len(project):]
		folder := name[:strings.IndexByte(name[strings.LastIndexByte(name, '/')+1:], '.')+strings.LastIndexByte(name, '/')+1]
		file := folder + frame.File[strings.LastIndexByte(frame.File, '/'):]
		if len(files) == 0 || files[len(files)-1] != file {
			files = append(files, file)
		}
	}
	return files, frames
}

// A call goes from the endpoint to the wire through one file after the other, and
// comes back to none: who reads along turns no page back.
func TestACallReturnsToNoFileThatItLeft(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(badserver.New(serving("one")))
	t.Cleanup(server.Close)
	wire := &stacks{RoundTripper: http.DefaultTransport.(*http.Transport).Clone()}
	t.Cleanup(wire.RoundTripper.(*http.Transport).CloseIdleConnections)
	backend := vmcp.Backend{ID: "one", Connector: connect.To(connect.HTTP{URL: server.URL, RoundTripper: wire}, connect.WithProtocolVersion(legacy))}
	g := over(t, &vmcp.Builder{}, []vmcp.Backend{backend})
	c, _ := way{"http", legacy, overHTTP}.connected(t, g)
	wire.mu.Lock()
	wire.frames = nil
	wire.mu.Unlock()
	_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "one_run"}})
	require.NoError(t, err)

	wire.mu.Lock()
	defer wire.mu.Unlock()
	require.Len(t, wire.frames, 1, "one request")
	files, frames := rooms(wire.frames[0])
	seen := map[string]bool{}
	for _, file := range files {
		assert.False(t, seen[file], "back in %s:\n%s", file, strings.Join(files, "\n"))
		seen[file] = true
	}
	assert.Contains(t, files[0], "gateway")
	t.Logf("%d frames in %d files", frames, len(seen))
}
