package events_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/events"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryEventHasTheFieldsThatItsEmittersWrite reads the code of the module:
// all keys that are written with an event, over all its emitters, are the fields
// that the table lists, and each event of the table has an emitter.
func TestEveryEventHasTheFieldsThatItsEmittersWrite(t *testing.T) {
	t.Parallel()
	assert.Empty(t, differences(t, "..", events.All))
}

// differences says where the table and the code under a folder differ.
func differences(t *testing.T, folder string, table []events.Event) []string {
	t.Helper()
	records, wrong := readModule(t, folder)
	type summary struct{ keys, levels map[string]bool }
	found := map[string]summary{}
	for _, record := range records {
		for _, name := range record.events {
			if found[name].keys == nil {
				found[name] = summary{map[string]bool{}, map[string]bool{}}
			}
			for _, key := range record.keys {
				found[name].keys[key] = true
			}
			found[name].levels[record.level] = true
		}
	}
	for _, event := range table {
		written, ok := found[event.Name]
		if !ok {
			wrong = append(wrong, event.Name+" is in the table and written nowhere")
			continue
		}
		delete(found, event.Name)
		if listed, keys := slices.Sorted(slices.Values(event.Fields)), slices.Sorted(maps.Keys(written.keys)); !slices.Equal(listed, keys) {
			wrong = append(wrong, fmt.Sprintf("%s is written with %v; the table lists %v", event.Name, keys, listed))
		}
		if !written.levels[""] && !written.levels[event.Level.String()] {
			wrong = append(wrong, fmt.Sprintf("%s is never written at %s", event.Name, event.Level))
		}
	}
	for name := range found {
		wrong = append(wrong, name+" is written and not in the table")
	}
	slices.Sort(wrong)
	return wrong
}

// TestTheReadingOfTheCodeFindsWhatIsWrong proves it on code that drifts.
func TestTheReadingOfTheCodeFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	const source = `package p

import (
	"log/slog"

	words "github.com/mcp-candor/candor/events"
)

type t struct{ log *slog.Logger }

func new(l *slog.Logger) t { return t{log: l.With(words.KeyBackendID, "a")} }

type State string

const (
	ready  State = "ready"
	failed State = "failed"
)

func (t t) f(l *slog.Logger, event string, report struct{ State State }) {
	%s
}
`
	table := []events.Event{
		{Name: events.Panic, Fields: []string{events.KeyMethod}},
		{Name: events.BackendReady, Fields: []string{events.KeyTarget, events.KeyReason}},
		{Name: events.BackendFailed, Fields: []string{events.KeyTarget, events.KeyReason}},
		{Name: events.RestoreFailed, Fields: []string{events.KeyBackendID}},
		{Name: events.ConfigNote},
	}
	const panics, restores, notes = `l.Info("x", words.KeyEvent, words.Panic, words.KeyMethod, "m")` + "\n",
		`t.log.LogAttrs(nil, 0, "x", slog.String(words.KeyEvent, words.RestoreFailed))` + "\n",
		`l.InfoContext(nil, "x", words.KeyEvent, words.ConfigNote)` + "\n"
	const backends = `state := string(report.State)
	attrs := []slog.Attr{slog.String(words.KeyEvent, words.Backend(state)), slog.String(words.KeyTarget, "")}
	if state != "" {
		attrs = append(attrs, slog.String(words.KeyReason, ""))
	}
	l.LogAttrs(nil, 0, "x", attrs...)
`
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"nothing":               {panics + restores + notes + backends, nil},
		"another key":           {`l.Warn("y", words.KeyEvent, words.Panic, words.KeyStack, 1)` + "\n" + panics + restores + notes + backends, []string{"panic is written with [method stack]; the table lists [method]"}},
		"another attribute":     {`l.Info("y", slog.String(words.KeyEvent, words.ConfigNote), slog.Int(words.KeyStack, 1))` + "\n" + panics + restores + backends, []string{"config_note is written with [stack]; the table lists []"}},
		"a key less":            {`l.Info("x", words.KeyEvent, words.Panic)` + "\n" + restores + notes + backends, []string{"panic is written with []; the table lists [method]"}},
		"a key of another log":  {panics + `l.Info("x", words.KeyEvent, words.RestoreFailed)` + "\n" + notes + backends, []string{"restore_failed is written with []; the table lists [backendID]"}},
		"another event":         {`l.Warn("y", words.KeyEvent, words.LogLost)` + "\n" + panics + restores + notes + backends, []string{"log_lost is written and not in the table"}},
		"nobody writes it":      {panics + restores + backends, []string{"config_note is in the table and written nowhere"}},
		"a key appended":        {panics + restores + notes + strings.Replace(backends, "KeyReason", "KeyError", 1), []string{"backend_failed is written with [error target]; the table lists [reason target]", "backend_ready is written with [error target]; the table lists [reason target]"}},
		"a literal as the key":  {`l.Warn("y", "code", 1)` + "\n" + panics + restores + notes + backends, []string{`p/p.go:21: the key "code" is no constant of package events`}},
		"a literal in With":     {`l.With("backendID", 1)` + "\n" + panics + restores + notes + backends, []string{`p/p.go:21: the key "backendID" is no constant of package events`}},
		"a literal attribute":   {`slog.Int("code", 1)` + "\n" + panics + restores + notes + backends, []string{`p/p.go:21: the key "code" is no constant of package events`}},
		"a literal as the name": {`l.Warn("y", words.KeyEvent, "panic")` + "\n" + panics + restores + notes + backends, []string{"p/p.go:21: the event is no constant of package events"}},
		"a name that varies":    {`l.Warn("y", words.KeyEvent, event)` + "\n" + panics + restores + notes + backends, []string{"p/p.go:21: the event is no constant of package events"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(folder, "p"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "p", "p.go"), fmt.Appendf(nil, source, test.body), 0o600))
			assert.Equal(t, test.want, differences(t, folder, table))
		})
	}
}
