package mcptest_test

import (
	"log/slog"
	"testing"

	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/stretchr/testify/assert"
)

func TestAJournalKeepsRecordsUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	var log mcptest.Journal
	log.Logger().Debug("a", "event", "e")
	log.Logger().Warn("b", "event", "f", "n", 1)
	assert.Equal(t, []mcptest.Record{{"level": "DEBUG", "msg": "a", "event": "e"}, {"level": "WARN", "msg": "b", "event": "f", "n": 1.0}}, log.Records())
	assert.Equal(t, []mcptest.Record{{"msg": "b", "event": "f", "n": 1.0}}, log.At(slog.LevelWarn))
	assert.Equal(t, 2, log.Count(`"event"`))
	assert.Equal(t, []string{"DEBUG"}, log.Levels("e"))
	assert.Empty(t, log.Take())

	log.Logger().Info("c")
	assert.Equal(t, "INFO", log.Loudest())
	log.Logger().Info("d")
	log.Only(t).HasOnly(t, map[string]any{"level": "INFO", "msg": "d"})
	assert.Equal(t, "DEBUG-1", log.Loudest(), "nothing is left")
	assert.Empty(t, log.String())
}
