package vmcp_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goroutines = 64

// boastful is a server over HTTP that has none of the lists it promises but
// that of its tools.
func boastful(t *testing.T, protocol string) connect.Target {
	t.Helper()
	script := with(`{"tools":{},"resources":{},"prompts":{}}`, answers{"tools/list": {badserver.Tools("run")}})
	script.Protocol = protocol
	return overHTTP(t, badserver.New(script))
}

// said counts the contradictions that were logged at a level, by method.
func said(t *testing.T, log *mcptest.Journal, level slog.Level) map[any]int {
	t.Helper()
	found := map[any]int{}
	for _, record := range log.At(level) {
		if record["event"] == "capability_contradiction" {
			found[record["method"]]++
		}
	}
	return found
}

func of(n int) map[any]int {
	return map[any]int{"resources/list": n, "resources/templates/list": n, "prompts/list": n}
}

// together runs f in all goroutines, at the same time.
func together(f func()) {
	start := make(chan struct{})
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			<-start
			f()
		})
	}
	close(start)
	running.Wait()
}

func TestManyGoroutinesOnOneClientSayEachContradictionOnce(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			c, err := connect.Open(t.Context(), boastful(t, protocol), middleware.Default(log.Logger(), nil))
			require.NoError(t, err)
			defer func() { assert.NoError(t, c.Close()) }()
			together(func() { listsAreEmpty(t.Context(), t, c) })
			assert.Equal(t, of(1), said(t, &log, slog.LevelWarn))
			assert.Equal(t, of(goroutines-1), said(t, &log, slog.LevelDebug))
		})
	}
}

func listsAreEmpty(ctx context.Context, t *testing.T, c *mcpclient.Client) {
	t.Helper()
	resources, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if assert.NoError(t, err) {
		assert.Empty(t, resources.Resources)
	}
	templates, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if assert.NoError(t, err) {
		assert.Empty(t, templates.ResourceTemplates)
	}
	prompts, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if assert.NoError(t, err) {
		assert.Empty(t, prompts.Prompts)
	}
}

func TestManyGoroutinesOnOneSessionSayEachContradictionOnce(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{legacy, modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			session := build(t, &vmcp.Builder{Logger: log.Logger()}, vmcp.Backend{ID: "a", Connector: connect.To(boastful(t, protocol))})
			together(func() {
				changed, err := session.Refresh(t.Context(), "a")
				assert.NoError(t, err)
				assert.False(t, changed)
			})
			assert.Equal(t, of(1), said(t, &log, slog.LevelWarn))
			assert.Equal(t, of(goroutines), said(t, &log, slog.LevelDebug), "the build said it first")
			assert.Len(t, reportOf(t, session.Report(), "a").Contradictions, 3)
		})
	}
}
