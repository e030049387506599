package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Journal keeps what is logged. Its zero value is ready, and it is safe for concurrent use. What is
// written to it beside its Logger's records has to be JSON as well, or only String and Drain may be used.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Record is one log record, as JSON has it: numbers are float64. Its time is left out, which all have.
type Record map[string]any

// Logger writes to the journal, whatever the level.
func (j *Journal) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write takes one record.
func (j *Journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

// String is what was written since it was last taken.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Drain is String, and takes it.
func (j *Journal) Drain() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.text.Reset()
	return j.text.String()
}

// Count says how often a text was written.
func (j *Journal) Count(text string) int { return strings.Count(j.String(), text) }

// Records are those that were written since they were last taken.
func (j *Journal) Records() []Record { return records(j.String()) }

// Take is Records, and takes them.
func (j *Journal) Take() []Record { return records(j.Drain()) }

// Only takes the one record that was written.
func (j *Journal) Only(tb testing.TB) Record {
	tb.Helper()
	taken := j.Take()
	require.Len(tb, taken, 1)
	return taken[0]
}

// At are the records of a level, without it.
func (j *Journal) At(level slog.Level) []Record {
	var found []Record
	for _, r := range j.Records() {
		if r[slog.LevelKey] == level.String() {
			delete(r, slog.LevelKey)
			found = append(found, r)
		}
	}
	return found
}

// Levels takes all records, and returns the levels of those about an event, in order.
func (j *Journal) Levels(event string) []string {
	var levels []string
	for _, r := range j.Take() {
		if r["event"] == event {
			levels = append(levels, fmt.Sprint(r[slog.LevelKey]))
		}
	}
	return levels
}

// Loudest takes all records, and returns their highest level; of none it is below DEBUG.
func (j *Journal) Loudest() string {
	loudest := slog.LevelDebug - 1
	for _, r := range j.Take() {
		var level slog.Level
		must(level.UnmarshalText([]byte(fmt.Sprint(r[slog.LevelKey]))))
		loudest = max(loudest, level)
	}
	return loudest.String()
}

// HasOnly asserts each field and that there is no other.
func (r Record) HasOnly(tb testing.TB, fields map[string]any) {
	tb.Helper()
	assert.Equal(tb, Record(fields), r)
}

func records(text string) []Record {
	var all []Record
	for line := range strings.Lines(text) {
		var r Record
		must(json.Unmarshal([]byte(line), &r))
		if r[slog.TimeKey] == nil {
			must(fmt.Errorf("no time in %s", line))
		}
		delete(r, slog.TimeKey)
		all = append(all, r)
	}
	return all
}

// must is about what a JSON handler writes.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("mcptest: not a journal: %v", err))
	}
}
