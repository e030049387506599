package middleware_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
)

func TestMaskIsPassedByAllTextThatIsWritten(t *testing.T) {
	t.Parallel()
	said := fmt.Errorf("%w: no such thing as tok-123", mcp.ErrMethodNotFound)
	hide := middleware.WithMask(func(text string) string { return strings.ReplaceAll(text, "tok-123", "***") })
	var log mcptest.Journal
	opt, all := told()
	c := tolerant(t, &log, always(nil, said), hide, opt)
	_, _ = c.ListPromptsByPage(t.Context(), mcp.ListPromptsRequest{})
	_, err := c.ListToolsByPage(t.Context(), mcp.ListToolsRequest{})
	assert.NotContains(t, err.Error(), "tok-123")
	assert.Equal(t, "no such thing as ***", (*all)[0].Message)

	kept := []slog.Attr{slog.String("what", "tok-123"), slog.Int("n", 1)}
	logging := middleware.Logging(log.Logger(), hide, middleware.WithFields(func(instrument.Outcome) []slog.Attr { return kept }))
	_ = listTools(t.Context(), connect(t, newServer(t, `{}`), always(nil, said), logging))
	assert.Equal(t, "tok-123", kept[0].Value.String(), "the caller's fields stay its own")

	assert.Contains(t, log.Drain(), "***")
	assert.NotContains(t, log.Drain(), "tok-123")
}
