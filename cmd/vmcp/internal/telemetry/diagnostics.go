package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/mcp-candor/candor/events"
	"go.opentelemetry.io/otel"
)

// installDiagnostics sends what the SDK has to say the way of the log. By default it
// prints to standard error.
func installDiagnostics(logger *slog.Logger) {
	seen := &seen{}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logger.LogAttrs(context.Background(), seen.level(err.Error()), "telemetry could not be sent",
			slog.String(events.KeyEvent, events.TelemetryFailed), slog.String(events.KeyError, err.Error()),
			slog.String(events.KeyRemedy, "check the OTEL_EXPORTER_* variables, and that the receiver is running"))
	}))
	otel.SetLogger(logr.FromSlogHandler(logger.With(events.KeyComponent, "opentelemetry").Handler()))
}

// seen tells an error that is new from one that was said. It is safe for
// concurrent use.
type seen struct {
	mu    sync.Mutex
	texts map[string]struct{}
}

// mostSeen bounds the memory: errors may quote what differs each time.
const mostSeen = 100

func (s *seen) level(text string) slog.Level {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[text]; ok || len(s.texts) >= mostSeen {
		return slog.LevelDebug
	}
	if s.texts == nil {
		s.texts = map[string]struct{}{}
	}
	s.texts[text] = struct{}{}
	return slog.LevelWarn
}

// scrapeLog says what went wrong with a scrape.
type scrapeLog struct{ logger *slog.Logger }

// Println is what promhttp calls.
func (l scrapeLog) Println(v ...any) {
	l.logger.Warn("metrics could not be scraped", events.KeyEvent, events.TelemetryFailed, events.KeyError, strings.TrimSpace(fmt.Sprintln(v...)))
}
